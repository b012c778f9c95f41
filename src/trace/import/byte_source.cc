#include "trace/import/byte_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace runqlab::trace {
namespace {

Error system_error(std::string_view what, const std::string& path, int code) {
  return Error{.message = std::string(what) + ": " + std::strerror(code),
               .file = path,
               .hint = "check the path and its permissions"};
}

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<size_t> read(std::span<char> out) override {
    for (;;) {
      const ssize_t n = ::read(fd_, out.data(), out.size());
      if (n >= 0) return static_cast<size_t>(n);
      if (errno != EINTR) return system_error("cannot read", path_, errno);
    }
  }

 private:
  int fd_;
  std::string path_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::string_view bytes) : rest_(bytes) {}

  Result<size_t> read(std::span<char> out) override {
    const size_t n = std::min(out.size(), rest_.size());
    std::copy_n(rest_.begin(), n, out.begin());
    rest_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view rest_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return system_error("cannot open", path, errno);
  return std::unique_ptr<ByteSource>(std::make_unique<FileSource>(fd, path));
}

std::unique_ptr<ByteSource> open_memory(std::string_view bytes) {
  return std::make_unique<MemorySource>(bytes);
}

}  // namespace runqlab::trace
