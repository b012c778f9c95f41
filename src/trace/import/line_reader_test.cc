#include "trace/import/line_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace runqlab::trace {
namespace {

using Lines = std::vector<std::string>;

// Gives `step` bytes at a time, then fails if told to.
class Dripping final : public ByteSource {
 public:
  Dripping(std::string text, size_t step, bool fails)
      : text_(std::move(text)), step_(step), fails_(fails) {}
  Result<size_t> read(std::span<char> out) override {
    const size_t n = std::min({step_, out.size(), text_.size() - at_});
    if (n == 0 && fails_) return Error{.message = "broken"};
    std::copy_n(text_.data() + at_, n, out.data());
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  size_t step_, at_ = 0;
  bool fails_;
};

Lines read_all(const std::string& text, size_t step = 1 << 20, bool fails = false) {
  Dripping source(text, step, fails);
  LineReader reader(source);
  Lines lines;
  std::string_view line;
  for (;;) {
    switch (reader.next(line)) {
      case LineReader::Next::line:
        lines.emplace_back(line);
        break;
      case LineReader::Next::too_long:
        lines.push_back("too long at " + std::to_string(reader.number()));
        break;
      case LineReader::Next::failed:
        lines.push_back("failed: " + reader.error().message);
        return lines;
      case LineReader::Next::end:
        return lines;
    }
  }
}

TEST(LineReaderTest, EndsOfLines) {
  EXPECT_EQ(read_all(""), Lines{});
  EXPECT_EQ(read_all("\n"), Lines{""});
  EXPECT_EQ(read_all("a\n\nb"), (Lines{"a", "", "b"}));
  EXPECT_EQ(read_all("a\r\nb\r\n"), (Lines{"a", "b"}));
  EXPECT_EQ(read_all("a\rb\n"), Lines{"a\rb"});
  EXPECT_EQ(read_all(std::string("a\0b\n", 4)), Lines{std::string("a\0b", 3)});
}

TEST(LineReaderTest, BytesMayComeOneByOne) {
  EXPECT_EQ(read_all("one\ntwo\r\nthree", 1), (Lines{"one", "two", "three"}));
}

TEST(LineReaderTest, ManyBuffersFull) {
  std::string text;
  Lines expected;
  for (int i = 0; i < 60'000; ++i) {
    expected.push_back("line " + std::to_string(i));
    text += expected.back() + "\n";
  }
  EXPECT_EQ(read_all(text), expected);
  EXPECT_EQ(read_all(text, 4093), expected);
}

TEST(LineReaderTest, LongLinesAreDroppedWithoutLosingTheNext) {
  const std::string longest(LineReader::kMaxLine, 'x');
  EXPECT_EQ(read_all(longest + "\nb\n"), (Lines{longest, "b"}));
  EXPECT_EQ(read_all("a\n" + longest + "x\nb\n"), (Lines{"a", "too long at 2", "b"}));
  const std::string huge(40 * LineReader::kMaxLine, 'x');
  EXPECT_EQ(read_all(huge + "\nb"), (Lines{"too long at 1", "b"}));
  EXPECT_EQ(read_all(huge), Lines{"too long at 1"});
  EXPECT_EQ(read_all("a\n" + huge + "\n", 1000), (Lines{"a", "too long at 2"}));
}

TEST(LineReaderTest, FailureComesAfterTheWholeLines) {
  EXPECT_EQ(read_all("a\nb", 2, true), (Lines{"a", "failed: broken"}));
}

TEST(LineReaderTest, PeekTakesNothingAway) {
  Dripping source("abc\ndef\n", 3, false);
  LineReader reader(source);
  EXPECT_EQ(reader.peek(), "abc\ndef\n");
  std::string_view line;
  EXPECT_EQ(reader.next(line), LineReader::Next::line);
  EXPECT_EQ(line, "abc");
  EXPECT_EQ(reader.number(), 1u);
}

}  // namespace
}  // namespace runqlab::trace
