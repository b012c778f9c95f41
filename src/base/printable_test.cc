#include "base/printable.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace runqlab {
namespace {

TEST(Printable, GoodTextStays) {
  for (const std::string good :
       {"", "kworker/u8:3-ev", "a b", "größe", "任务", "😀", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(printable(good), good);
  }
}

TEST(Printable, WhatMovesATerminalIsReplaced) {
  EXPECT_EQ(printable("\x1b[2J\x1b]0;title\x07"), "?[2J?]0;title?");
  EXPECT_EQ(printable("a\nb\tc\rd\x7f"), "a?b?c?d?");
  EXPECT_EQ(printable("a\nb\tc", "\n"), "a\nb?c");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "?2J");                              // the one-character form of ESC [
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");  // a no-break space is none of them
}

TEST(Printable, WhatIsNotUtf8IsReplacedByteByByte) {
  EXPECT_EQ(printable("caf\xe9"), "caf?");
  EXPECT_EQ(printable("\x80"
                      "a"),
            "?a");
  EXPECT_EQ(printable("\xc0\x9b"), "??");            // overlong
  EXPECT_EQ(printable("\xe0\x82\x9b"), "???");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(printable("a\xe4\xbb"), "a??");          // cut off
}

TEST(Printable, AnyBytesGiveTextThatStays) {
  const Rng rng(3);
  for (uint64_t round = 0; round < 2'000; ++round) {
    RandomStream r = rng.stream("bytes", round);
    std::string text;
    for (uint64_t n = r.below(20); n > 0; --n) text += static_cast<char>(r.below(256));
    const std::string once = printable(text);
    EXPECT_EQ(printable(once), once);
    EXPECT_LE(once.size(), text.size());
    for (size_t most = 3; most < 9; ++most) {
      const std::string cut = shortened(once, most);
      EXPECT_LE(count_characters(cut), most);
      EXPECT_EQ(printable(cut), cut);
    }
  }
}

TEST(Printable, LongTextsLoseTheirMiddle) {
  EXPECT_EQ(shortened("rcu_preempt:16", 14), "rcu_preempt:16");
  EXPECT_EQ(shortened("aaaaaaaaaa:1234", 11), "aaaaa…:1234");
  EXPECT_EQ(shortened("ääääääää", 5), "ää…ää");
}

TEST(Printable, WordsOfAShell) {
  EXPECT_EQ(shell_word("sched-pipe-12"), "sched-pipe-12");
  EXPECT_EQ(shell_word("NetworkManager: x"), "'NetworkManager: x'");
  EXPECT_EQ(shell_word(";reboot"), "';reboot'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace runqlab
