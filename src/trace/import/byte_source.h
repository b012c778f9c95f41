// trace/import/byte_source.h — where a recording's bytes come from: a file or memory.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace runqlab::trace {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Writes to the start of `out` (which is not empty) and returns how much; 0 only at the end.
  virtual Result<size_t> read(std::span<char> out) = 0;
};

// Never seeks, so a pipe will do.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// `bytes` must outlive the source.
std::unique_ptr<ByteSource> open_memory(std::string_view bytes);

}  // namespace runqlab::trace
