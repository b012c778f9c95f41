#include "trace/import/line_reader.h"

#include <cstring>
#include <span>

namespace runqlab::trace {
namespace {

const char* find_newline(const char* from, size_t n) {
  return static_cast<const char*>(std::memchr(from, '\n', n));
}

}  // namespace

bool LineReader::fill() {
  if (at_end_) return false;
  if (begin_ != 0 && end_ == buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto n = source_.read(std::span(buffer_).subspan(end_));
  if (!n) {
    error_ = n.error();
    at_end_ = true;
    return false;
  }
  end_ += *n;
  at_end_ = *n == 0;
  return !at_end_;
}

std::string_view LineReader::peek() {
  while (end_ - begin_ < kMaxLine && fill()) {
  }
  return error_ ? std::string_view() : std::string_view(buffer_.data() + begin_, end_ - begin_);
}

// The rest of a line whose beginning has been handed out: dropped by the bufferful.
void LineReader::skip_line() {
  for (;;) {
    const char* start = buffer_.data() + begin_;
    if (const char* newline = find_newline(start, end_ - begin_); newline != nullptr) {
      begin_ += static_cast<size_t>(newline - start) + 1;
      skipping_ = false;
      return;
    }
    begin_ = end_ = 0;
    if (!fill()) return;
  }
}

LineReader::Next LineReader::next(std::string_view& line) {
  if (skipping_) skip_line();
  size_t searched = 0;
  for (;;) {
    const char* start = buffer_.data() + begin_;
    const size_t held = end_ - begin_;
    const char* newline = find_newline(start + searched, held - searched);
    const bool complete = newline != nullptr;
    const size_t length = complete ? static_cast<size_t>(newline - start) : held;
    if (length > kMaxLine) {
      ++number_;
      line = std::string_view(start, kMaxLine);
      begin_ += kMaxLine;
      skipping_ = true;
      return Next::too_long;
    }
    if (complete || (at_end_ && held != 0 && !error_)) {
      ++number_;
      begin_ += length + (complete ? 1 : 0);
      line = std::string_view(start, length);
      if (line.ends_with('\r')) line.remove_suffix(1);
      return Next::line;
    }
    if (at_end_) return error_ ? Next::failed : Next::end;
    searched = held;
    fill();
  }
}

}  // namespace runqlab::trace
