#include "workload/text/date_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

double since_1970_s(std::string_view text) {
  const auto date = parse_date(text);
  EXPECT_TRUE(date.ok()) << text << ": " << date.error().message;
  return date.ok() ? seconds(date.value()) : -1;
}

TEST(Date, IsCountedFrom1970) {
  EXPECT_EQ(since_1970_s("1970-01-01 00:00:00"), 0);
  EXPECT_EQ(since_1970_s("2000-02-29 12:00:00"), 951825600);
  EXPECT_EQ(since_1970_s("2017-10-07 01:11:39"), 1507338699);
  EXPECT_EQ(since_1970_s("2024-12-31T23:59:59"), 1735689599);
  EXPECT_EQ(since_1970_s("2069-12-31 23:59:59"), 3155759999.0);
}

TEST(Date, MayHavePartsOfASecondAndAZone) {
  EXPECT_EQ(since_1970_s("2023-03-01 00:18:22+08:00"), since_1970_s("2023-02-28 16:18:22"));
  EXPECT_EQ(since_1970_s("2023-03-01T00:18:22-0530"), since_1970_s("2023-03-01 05:48:22"));
  EXPECT_EQ(since_1970_s("2023-03-01T00:18:22Z"), since_1970_s("2023-03-01 00:18:22"));
  EXPECT_EQ(since_1970_s("2023-03-01T00:18:22 +01"), since_1970_s("2023-02-28 23:18:22"));
  EXPECT_EQ(parse_date("1970-01-01 00:00:01.25").value(), Duration(1'250'000'000));
  EXPECT_EQ(parse_date("1970-01-01 00:00:01.1234567891Z").value(), Duration(1'123'456'789));
}

TEST(Date, EveryDayFollowsTheOneBefore) {
  Duration before = parse_date("1999-12-31 00:00:00").value();
  constexpr std::array<int, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int month = 1; month <= 12; ++month) {
    for (int day = 1; day <= kDays[static_cast<std::size_t>(month - 1)]; ++day) {
      char text[32];
      std::snprintf(text, sizeof text, "2000-%02d-%02d 00:00:00", month, day);
      const Duration date = parse_date(text).value();
      EXPECT_EQ(date - before, std::chrono::hours(24)) << text;
      before = date;
    }
  }
}

TEST(Date, OtherTextIsRefused) {
  for (const char* text : {"",
                           "2020",
                           "2020-06-09",
                           "2020-06-09 18:41",
                           "2020/06/09 18:41:01",
                           "2020-13-01 00:00:00",
                           "2021-02-29 00:00:00",
                           "2020-06-31 00:00:00",
                           "2020-06-09 24:00:00",
                           "2020-06-09 18:60:01",
                           "2020-06-09 18:41:61",
                           "1969-12-31 23:59:59",
                           "2070-01-01 00:00:00",
                           "20a0-06-09 18:41:01",
                           "2020-06-09 18:41:01.",
                           "2020-06-09 18:41:01 PDT",
                           "2020-06-09 18:41:01+8",
                           "2020-06-09 18:41:01+25:00",
                           "2020-06-09 18:41:01+08:000",
                           "1970-01-01 00:00:00+08:00",
                           "2069-12-31 23:00:00-08:00",
                           "None"}) {
    const auto date = parse_date(text);
    ASSERT_FALSE(date.ok()) << text;
    EXPECT_NE(date.error().message.find("is not a date such as"), std::string::npos);
  }
}

TEST(Date, WordsForNoTimeAreKnown) {
  for (const char* text : {"", "None", "Unknown", "NaN", "NaT", "null"}) {
    EXPECT_TRUE(is_no_value(text)) << text;
  }
  for (const char* text : {"0", "2020-06-09 18:41:01", "never"}) {
    EXPECT_FALSE(is_no_value(text)) << text;
  }
}

TEST(Clock, CountsDaysHoursMinutesAndSeconds) {
  EXPECT_EQ(seconds(parse_clock("00:00:05").value()), 5);
  EXPECT_EQ(seconds(parse_clock("02:03:04").value()), 7384);
  EXPECT_EQ(seconds(parse_clock("1-02:03:04").value()), 93784);
  EXPECT_EQ(seconds(parse_clock("03:04.500").value()), 184.5);
  for (const char* text :
       {"", "5", "1-", "x:00:00", "1:2:3:4", "00:00:05.", "-1:00:00", "99999999-00:00:00"}) {
    EXPECT_FALSE(parse_clock(text).ok()) << text;
  }
}

}  // namespace
}  // namespace orrery
