#include "trace/import/decompress.h"

#define ZLIB_CONST  // zlib's input pointer as pointer to const
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace runqlab::trace {
namespace {

// A 64 MiB dictionary (xz -9) needs 65 MiB; above this the file is one that its reader must unpack
// with intent.
constexpr uint64_t kXzMemoryLimit = uint64_t{256} << 20;
// 128 MiB of window: what `zstd --long=27` writes and `zstd -d` accepts by default.
constexpr int kZstdWindowLog = 27;

// The raw bytes, some of them at hand.
class Feed {
 public:
  explicit Feed(std::unique_ptr<ByteSource> raw) : raw_(std::move(raw)) {}

  // Reads until `want` bytes are at hand or the end is reached; how many are at hand.
  Result<size_t> fill(size_t want = 1) {
    if (begin_ == end_) begin_ = end_ = 0;
    while (size() < want) {
      const auto n = raw_->read(std::span(buffer_).subspan(end_));
      if (!n) return n.error();
      if (*n == 0) break;
      end_ += *n;
    }
    return size();
  }
  [[nodiscard]] const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(buffer_.data()) + begin_;
  }
  [[nodiscard]] size_t size() const { return end_ - begin_; }
  void consume(size_t n) { begin_ += n; }

  // Past the bytes at hand, straight from the source.
  Result<size_t> read(std::span<char> out) {
    if (size() == 0) return raw_->read(out);
    const size_t n = std::min(out.size(), size());
    std::memcpy(out.data(), data(), n);
    consume(n);
    return n;
  }

 private:
  std::unique_ptr<ByteSource> raw_;
  std::array<char, size_t{64} * 1024> buffer_;
  size_t begin_ = 0, end_ = 0;
};

class Decoder : public ByteSource {
 public:
  Decoder(std::unique_ptr<Feed> feed, std::string name)
      : feed_(std::move(feed)), name_(std::move(name)) {}
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

 protected:
  [[nodiscard]] Error damaged(std::string_view format, std::string_view why,
                              std::string_view hint) const {
    return Error{
        .message = std::string("damaged ") + std::string(format) + " stream: " + std::string(why),
        .file = name_,
        .hint = std::string(hint)};
  }
  std::unique_ptr<Feed> feed_;
  std::string name_;
};

class Plain final : public Decoder {
 public:
  using Decoder::Decoder;
  Result<size_t> read(std::span<char> out) override { return feed_->read(out); }
};

class Gzip final : public Decoder {
 public:
  Gzip(std::unique_ptr<Feed> feed, std::string name) : Decoder(std::move(feed), std::move(name)) {
    constexpr int kGzipOnly = 15 + 16;  // full window; zlib's sign for "with a gzip header"
    RQL_CHECK(inflateInit2(&z_, kGzipOnly) == Z_OK);
  }
  ~Gzip() override { inflateEnd(&z_); }

  Result<size_t> read(std::span<char> out) override {
    z_.next_out = reinterpret_cast<Bytef*>(out.data());
    z_.avail_out = static_cast<uInt>(out.size());
    while (z_.avail_out == out.size()) {
      const auto n = feed_->fill();
      if (!n) return n.error();
      if (*n == 0) {
        if (!in_member_) return size_t{0};
        return damaged("gzip", "it ends too early", kHint);
      }
      if (!in_member_) {
        if (feed_->data()[0] == 0) {  // padding after a member, as tapes need it
          feed_->consume(1);
          continue;
        }
        inflateReset(&z_);
        in_member_ = true;
      }
      z_.next_in = feed_->data();
      z_.avail_in = static_cast<uInt>(*n);
      const int status = inflate(&z_, Z_NO_FLUSH);
      feed_->consume(*n - z_.avail_in);
      if (status == Z_STREAM_END) {
        in_member_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return damaged("gzip", z_.msg != nullptr ? z_.msg : "unknown error", kHint);
      }
    }
    return out.size() - z_.avail_out;
  }

 private:
  static constexpr std::string_view kHint = "check it with `gzip -t` and copy or record it again";
  z_stream z_{};
  bool in_member_ = true;
};

class Xz final : public Decoder {
 public:
  Xz(std::unique_ptr<Feed> feed, std::string name) : Decoder(std::move(feed), std::move(name)) {
    RQL_CHECK(lzma_stream_decoder(&z_, kXzMemoryLimit, LZMA_CONCATENATED) == LZMA_OK);
  }
  ~Xz() override { lzma_end(&z_); }

  Result<size_t> read(std::span<char> out) override {
    z_.next_out = reinterpret_cast<uint8_t*>(out.data());
    z_.avail_out = out.size();
    while (z_.avail_out == out.size() && !done_) {
      const auto n = feed_->fill();
      if (!n) return n.error();
      z_.next_in = feed_->data();
      z_.avail_in = *n;
      const lzma_ret status = lzma_code(&z_, *n == 0 ? LZMA_FINISH : LZMA_RUN);
      feed_->consume(*n - z_.avail_in);
      if (status == LZMA_STREAM_END) {
        done_ = true;
      } else if (status != LZMA_OK) {
        return failure(status);
      }
    }
    return out.size() - z_.avail_out;
  }

 private:
  [[nodiscard]] Error failure(lzma_ret status) const {
    switch (status) {
      case LZMA_MEMLIMIT_ERROR:
        return Error{.message = "xz stream needs more than 256 MiB to unpack",
                     .file = name_,
                     .hint = "unpack it with `xz -dk` and give the result"};
      case LZMA_BUF_ERROR:
        return damaged("xz", "it ends too early", kHint);
      case LZMA_OPTIONS_ERROR:
        return damaged("xz", "it uses an unknown filter", kHint);
      default:
        return damaged("xz", "its data are corrupt", kHint);
    }
  }
  static constexpr std::string_view kHint = "check it with `xz -t` and copy or record it again";
  lzma_stream z_ = LZMA_STREAM_INIT;
  bool done_ = false;
};

class Zstd final : public Decoder {
 public:
  Zstd(std::unique_ptr<Feed> feed, std::string name)
      : Decoder(std::move(feed), std::move(name)), z_(ZSTD_createDCtx()) {
    RQL_CHECK(z_ != nullptr);
    ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, kZstdWindowLog);
  }
  ~Zstd() override { ZSTD_freeDCtx(z_); }

  Result<size_t> read(std::span<char> out) override {
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    while (to.pos == 0) {
      const auto n = feed_->fill();
      if (!n) return n.error();
      if (*n == 0 && !in_frame_) break;
      ZSTD_inBuffer from{feed_->data(), *n, 0};
      const size_t status = ZSTD_decompressStream(z_, &to, &from);
      feed_->consume(from.pos);
      if (ZSTD_isError(status) != 0) return damaged("zstd", ZSTD_getErrorName(status), kHint);
      in_frame_ = status != 0;
      if (*n == 0 && to.pos == 0) return damaged("zstd", "it ends too early", kHint);
    }
    return to.pos;
  }

 private:
  static constexpr std::string_view kHint =
      "check it with `zstd -t`; a window above 128 MiB must be unpacked first (`zstd -d "
      "--long=31`)";
  ZSTD_DCtx* z_;
  bool in_frame_ = false;
};

bool starts_with(const Feed& feed, std::string_view magic) {
  return feed.size() >= magic.size() && std::memcmp(feed.data(), magic.data(), magic.size()) == 0;
}

bool is_zstd(const Feed& feed) {
  using namespace std::string_view_literals;
  if (starts_with(feed, "\x28\xb5\x2f\xfd")) return true;
  // A skippable frame may come first (pzstd writes one).
  return feed.size() >= 4 && (feed.data()[0] & 0xf0) == 0x50 &&
         std::memcmp(feed.data() + 1, "\x2a\x4d\x18"sv.data(), 3) == 0;
}

template <class T>
std::unique_ptr<ByteSource> make(std::unique_ptr<Feed> feed, const std::string& name) {
  return std::make_unique<T>(std::move(feed), name);
}

}  // namespace

Result<std::unique_ptr<ByteSource>> decompressed(std::unique_ptr<ByteSource> raw,
                                                 const std::string& name) {
  using namespace std::string_view_literals;
  auto feed = std::make_unique<Feed>(std::move(raw));
  if (const auto n = feed->fill(6); !n) return n.error();
  if (starts_with(*feed, "\x1f\x8b"sv)) return make<Gzip>(std::move(feed), name);
  if (starts_with(*feed, "\xfd\x37zXZ\0"sv)) return make<Xz>(std::move(feed), name);
  if (is_zstd(*feed)) return make<Zstd>(std::move(feed), name);
  return make<Plain>(std::move(feed), name);
}

}  // namespace runqlab::trace
