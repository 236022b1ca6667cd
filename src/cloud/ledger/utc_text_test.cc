#include "cloud/ledger/utc_text.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(UtcText, IsIso8601WithNanoseconds) {
  EXPECT_EQ(utc_text(Time{}), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(utc_text(Time(Duration(1'550'279'423'998'327'001))), "2019-02-16T01:10:23.998327001Z");
}

TEST(UtcText, ReadsBackWhatItWrites) {
  for (const std::int64_t ns :
       {0LL, 1LL, 1'550'279'423'998'327'001LL, 4'102'444'800'000'000'000LL}) {
    EXPECT_EQ(time_of_utc(utc_text(Time(Duration(ns)))), Time(Duration(ns)));
  }
}

TEST(UtcText, ReadsThePublishedStamps) {
  const Time expected(Duration(1'550'279'423'998'327'000));
  EXPECT_EQ(time_of_utc("2019-02-16 01:10:23.998327"), expected);
  EXPECT_EQ(time_of_utc("2019-02-16T01:10:23.998327Z"), expected);
  EXPECT_EQ(time_of_utc("2019-02-16 01:26:56.532"), Time(Duration(1'550'280'416'532'000'000)));
  EXPECT_EQ(time_of_utc("2019-02-16 01:26:56"), Time(Duration(1'550'280'416'000'000'000)));
}

TEST(UtcText, RefusesWhatIsNoInstant) {
  for (const char* text :
       {"", "Z", "2019-02-16", "2019-02-30 00:00:00", "2019-02-16 24:00:00", "2019-02-16 01:10:23.",
        "2019-02-16 01:10:23.9983270001", "2019-02-16 01:10:23,5", "2019-02-16 01:10:2x",
        "1969-12-31 23:59:59", "2019-02-16 01:10:23 UTC"}) {
    EXPECT_EQ(time_of_utc(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace orrery
