#include "machine/toml_ascii.h"

namespace runqlab::machine {
namespace {

// What the next character belongs to: nothing special, a comment, or a string that ends with these
// quotes ('"', "'", and three of them for strings over several lines).
class Place {
 public:
  explicit Place(std::string_view text) : text_(text) {}

  [[nodiscard]] bool plain() const { return quotes_ == 0 && !comment_; }
  // Steps over the character at `i`; how many it took.
  size_t step(size_t i) {
    const char c = text_[i];
    if (c == '\n') {
      comment_ = false;
      if (quotes_ == 1) quotes_ = 0;  // not closed: an error that the parser reports
      return 1;
    }
    if (comment_) return 1;
    if (quotes_ == 0) {
      comment_ = c == '#';
      if (c != '"' && c != '\'') return 1;
      quote_ = c;
      const size_t run = run_of_quotes(i);
      if (run == 2) return 2;  // empty
      quotes_ = run >= 3 ? 3 : 1;
      return quotes_;
    }
    if (c == '\\' && quote_ == '"') return 2;
    if (c != quote_ || run_of_quotes(i) < quotes_) return 1;
    const size_t closed = quotes_;
    quotes_ = 0;
    return closed;
  }

 private:
  [[nodiscard]] size_t run_of_quotes(size_t i) const {
    size_t n = 0;
    while (n < 3 && i + n < text_.size() && text_[i + n] == quote_) ++n;
    return n;
  }

  std::string_view text_;
  char quote_ = 0;
  size_t quotes_ = 0;
  bool comment_ = false;
};

}  // namespace

Status check_ascii(std::string_view toml, const std::string& file) {
  Place place(toml);
  uint64_t line = 1;
  size_t line_start = 0;
  for (size_t i = 0; i < toml.size();) {
    if (toml[i] == '\n') {
      ++line;
      line_start = i + 1;
    }
    if (static_cast<unsigned char>(toml[i]) >= 0x80 && place.plain()) {
      return Error{.message = "a character beyond ASCII outside of a string or comment",
                   .file = file,
                   .line = line,
                   .column = static_cast<uint32_t>(i - line_start + 1),
                   .hint = "put it in quotes"};
    }
    i += place.step(i);
  }
  return Ok{};
}

}  // namespace runqlab::machine
