#include "base/plain_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(PlainText, CharactersThatDeceiveAReaderAreReplaced) {
  EXPECT_EQ(plain_text("a\x1b[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(plain_text("x\u202egpj.sh"), "x?gpj.sh");
  EXPECT_EQ(plain_text("a\u2066b\u2069\u200bc\ufeff"), "a?b??c?");
  EXPECT_EQ(plain_text("\u0085\u009b"
                       "31m"),
            "??31m");
  EXPECT_EQ(plain_text("\U000E0041"), "?");
}

TEST(PlainText, BytesThatAreNotUtf8AreReplacedOneByOne) {
  EXPECT_EQ(plain_text("a\xff\xc0\xafz"), "a???z");
  EXPECT_EQ(plain_text("\xe2\x80"), "??");
  EXPECT_EQ(plain_text("\xed\xa0\x80"), "???");
}

TEST(PlainText, LettersOfAnyScriptStay) {
  for (const char* text : {"train-7b_v2", "äöü", "日本語", "שלום", "🙂"}) {
    EXPECT_EQ(plain_text(text), text);
    EXPECT_TRUE(is_plain_text(text));
  }
  EXPECT_FALSE(is_plain_text("x\u202e"));
}

TEST(PlainText, LinesKeepTheirEnds) { EXPECT_EQ(plain_lines("a\tb\nc\x1b\r\n"), "a\tb\nc??\n"); }

}  // namespace
}  // namespace orrery
