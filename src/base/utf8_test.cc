#include "base/utf8.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, CharactersOfOneToFourBytes) {
  EXPECT_EQ(first_character("ab").code, U'a');
  EXPECT_EQ(first_character("ab").bytes, 1U);
  EXPECT_EQ(first_character("\0"sv).bytes, 1U);
  EXPECT_EQ(first_character("\xc3\xa9").code, U'\u00e9');
  EXPECT_EQ(first_character("\xe2\x82\xac").code, U'\u20ac');
  EXPECT_EQ(first_character("\xf0\x9f\x98\x80").code, U'\U0001f600');
  EXPECT_EQ(first_character("\xf4\x8f\xbf\xbf").code, char32_t{0x10ffff});
}

TEST(Utf8, OverlongFormsSurrogatesAndTooLargeValuesAreRefused) {
  for (const auto text : {"\x80"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xf0\x8f\xbf\xbf"sv,
                          "\xed\xa0\x80"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv}) {
    EXPECT_EQ(first_character(text).bytes, 0U);
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Utf8, ATextThatEndsInsideACharacterIsRefused) {
  for (const auto text : {"\xc3"sv, "\xe2\x82"sv, "\xf0\x9f\x98"sv, "\xe2\x82\x41"sv}) {
    EXPECT_FALSE(is_utf8(text));
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("\xe2\x82\xac and \xc3\xa9"));
}

TEST(Utf8, EveryOtherByteIsReplaced) {
  EXPECT_EQ(as_utf8("a\xff\xe2\x82z\xc3\xa9"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\xc3\xa9");
  EXPECT_EQ(as_utf8("plain"), "plain");
}

}  // namespace
}  // namespace orrery
