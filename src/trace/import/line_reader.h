// trace/import/line_reader.h — a source of bytes as lines, in a fixed buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "trace/import/byte_source.h"

namespace runqlab::trace {

class LineReader {
 public:
  // The longest line of a recording of ours has about 400 bytes; an ftrace page has 4 KiB.
  static constexpr size_t kMaxLine = size_t{64} * 1024;

  enum class Next : uint8_t {
    line,      // `line` holds it
    too_long,  // longer than kMaxLine: `line` holds its beginning
    end,
    failed,  // error() says why
  };

  // `source` must outlive the reader.
  explicit LineReader(ByteSource& source) : source_(source), buffer_(4 * kMaxLine) {}

  // The next line without "\n" or "\r\n"; valid until the next call.
  Next next(std::string_view& line);

  // The first bytes of what is to come, without reading them: kMaxLine of them, or up to the end.
  // Empty also when reading failed; next() then says so.
  std::string_view peek();

  [[nodiscard]] uint64_t number() const { return number_; }  // of the last line; counts from 1
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  bool fill();       // more bytes behind end_; false at the end or on failure
  void skip_line();  // drops the rest of one that was too long

  ByteSource& source_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  uint64_t number_ = 0;
  bool at_end_ = false;
  bool skipping_ = false;  // the rest of a line that was too long is still to be dropped
  std::optional<Error> error_;
};

}  // namespace runqlab::trace
