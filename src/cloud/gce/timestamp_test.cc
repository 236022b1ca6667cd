#include "cloud/gce/timestamp.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(Timestamp, AnOffsetIsTakenOff) {
  EXPECT_EQ(rfc3339_time("1970-01-02T00:00:01Z"), time_from_seconds(86401));
  EXPECT_EQ(rfc3339_time("2026-11-19T10:00:00.250-08:00"), rfc3339_time("2026-11-19T18:00:00.25Z"));
  EXPECT_EQ(rfc3339_time("2026-11-19T10:00:00+05:30"), rfc3339_time("2026-11-19T04:30:00Z"));
}

TEST(Timestamp, ReadsBackWhatItWrites) {
  const Time time = time_from_seconds(1795111329) + std::chrono::milliseconds(125);
  EXPECT_EQ(rfc3339_text(time), "2026-11-19T18:02:09.125Z");
  EXPECT_EQ(rfc3339_time(rfc3339_text(time)), time);
  EXPECT_EQ(http_date_text(time), "Thu, 19 Nov 2026 18:02:09 GMT");
  EXPECT_EQ(http_date(http_date_text(time)), time_from_seconds(1795111329));
}

TEST(Timestamp, AnotherTextIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
                           "2026-11-19T10:00:00", "2026-11-19T25:00:00Z", "1815-06-18T11:00:00Z",
                           "2026-11-19T10:00:00Zulu", "2026-11-19 10:00:00Z", "2026-11-19T10"}) {
    EXPECT_EQ(rfc3339_time(text), std::nullopt) << text;
  }
  for (const char* text : {"", "Thu, 19 Nov", "Thu, 19 Foo 2026 18:02:09 GMT", "19 Nov 2026"}) {
    EXPECT_EQ(http_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace orrery
