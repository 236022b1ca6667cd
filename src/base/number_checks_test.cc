#include "base/number_checks.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(NumberChecks, NumbersWithinTheRangeAreRight) {
  EXPECT_EQ(check_number_between("0", 0, 1), "");
  EXPECT_EQ(check_number_between("2.5e-1", 0, 1), "");
  EXPECT_EQ(check_number_above_0("1e-300", 1e300), "");
  EXPECT_EQ(check_whole_number("9223372036854775807", 0, INT64_MAX), "");
}

TEST(NumberChecks, WhatIsNoFiniteNumberIsNamed) {
  for (const std::string text : {"nan", "-nan", "inf", "-inf", "1e400", "", "1x", " 1", "0x10"}) {
    EXPECT_EQ(check_number_between(text, 0, 9), "'" + text + "' is not a number from 0 to 9");
    EXPECT_EQ(check_number_above_0(text, 1e300), "'" + text + "' is not a number above 0");
    EXPECT_EQ(check_whole_number(text, 0, 9), "'" + text + "' is not a whole number from 0 to 9");
  }
}

TEST(NumberChecks, NumbersBeyondTheRangeAreNamed) {
  EXPECT_EQ(check_number_between("1.5", 0, 1), "'1.5' is not a number from 0 to 1");
  EXPECT_EQ(check_number_above_0("0", 1e300), "'0' is not a number above 0");
  EXPECT_EQ(check_number_above_0("7", 5), "'7' is not a number above 0 and at most 5");
  EXPECT_EQ(check_whole_number("-1", 0, 9), "'-1' is not a whole number from 0 to 9");
}

TEST(NumberChecks, ALongNumberIsShortenedInTheMessage) {
  const std::string message = check_whole_number(std::string(309, '9'), 0, 9);
  EXPECT_EQ(message, "'" + std::string(40, '9') + "...' is not a whole number from 0 to 9");
}

}  // namespace
}  // namespace orrery
