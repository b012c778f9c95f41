#include "trace/import/decompress.h"

#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <string>

namespace runqlab::trace {
namespace {

using namespace std::string_literals;

std::string gzip(std::string_view text) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string in(text), out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(in.data());
  z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string xz(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t used = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                                    reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<uint8_t*>(out.data()), &used, out.size()),
            LZMA_OK);
  out.resize(used);
  return out;
}

std::string zstd(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

// A zstd frame of one uncompressed block that declares a window of 2^log bytes.
std::string zstd_with_window(int log, std::string_view text) {
  const size_t block = (text.size() << 3) | 1;  // last block, raw
  std::string frame = "\x28\xb5\x2f\xfd"s;
  frame += '\0';  // no checksum, no content size
  frame += static_cast<char>((log - 10) << 3);
  for (int shift = 0; shift < 24; shift += 8) frame += static_cast<char>((block >> shift) & 0xff);
  return frame + std::string(text);
}

Result<std::string> unpack(std::string_view bytes) {
  auto source = decompressed(open_memory(bytes), "a.gz");
  if (!source) return source.error();
  std::string text;
  std::array<char, 1000> buffer;
  for (;;) {
    const auto n = (*source)->read(buffer);
    if (!n) return n.error();
    if (*n == 0) return text;
    text.append(buffer.data(), *n);
  }
}

// Long enough for many buffers, and not the same everywhere.
std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 1'000'000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

using Packer = std::string (*)(std::string_view);
class Decompress : public testing::TestWithParam<Packer> {};

TEST_P(Decompress, GivesTheContentBack) {
  const std::string text = long_text();
  EXPECT_EQ(unpack(GetParam()(text)).value(), text);
  EXPECT_EQ(unpack(GetParam()("")).value(), "");
}

TEST_P(Decompress, ReadsOneStreamAfterAnother) {
  const std::string text = long_text();
  EXPECT_EQ(unpack(GetParam()("a\n") + GetParam()(text) + GetParam()("z")).value(),
            "a\n" + text + "z");
}

TEST_P(Decompress, RefusesAStreamThatEndsTooEarly) {
  const std::string packed = GetParam()(long_text());
  for (const size_t cut : {packed.size() - 1, packed.size() / 2, size_t{8}}) {
    const auto r = unpack(std::string_view(packed).substr(0, cut));
    ASSERT_FALSE(r.ok()) << cut;
    EXPECT_EQ(r.error().file, "a.gz");
    EXPECT_NE(r.error().message.find("damaged"), std::string::npos) << r.error().to_string();
    EXPECT_NE(r.error().hint, "");
  }
}

TEST_P(Decompress, RefusesForeignBytesBehindTheStream) {
  EXPECT_FALSE(unpack(GetParam()("text") + "no stream").ok());
}

INSTANTIATE_TEST_SUITE_P(Formats, Decompress, testing::Values(gzip, xz, zstd));

TEST(DecompressTest, RefusesCorruptData) {
  for (const Packer pack : {gzip, xz}) {
    std::string packed = pack(long_text());
    for (size_t i = packed.size() / 2; i < packed.size() / 2 + 50; ++i) packed[i] ^= 0x55;
    EXPECT_FALSE(unpack(packed).ok());
  }
}

TEST(DecompressTest, PassesPlainContentThrough) {
  const std::string text = long_text();
  EXPECT_EQ(unpack(text).value(), text);
  EXPECT_EQ(unpack("").value(), "");
  EXPECT_EQ(unpack("x").value(), "x");
}

TEST(DecompressTest, GzipMayBePaddedWithZeros) {
  EXPECT_EQ(unpack(gzip("text") + std::string(700, '\0')).value(), "text");
}

TEST(DecompressTest, ZstdMayBeginWithASkippableFrame) {
  const std::string skippable = "\x50\x2a\x4d\x18\x03\x00\x00\x00"s + "abc";
  EXPECT_EQ(unpack(skippable + zstd("text")).value(), "text");
}

TEST(DecompressTest, ZstdWindowsUpTo27BitsAreAccepted) {
  EXPECT_EQ(unpack(zstd_with_window(27, "text")).value(), "text");
  const auto r = unpack(zstd_with_window(28, "text"));
  ASSERT_FALSE(r.ok());
  EXPECT_NE(r.error().hint.find("--long=31"), std::string::npos);
}

}  // namespace
}  // namespace runqlab::trace
