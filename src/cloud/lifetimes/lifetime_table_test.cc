#include "cloud/lifetimes/lifetime_table.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kTable =
    "K80,,\r\n"
    "VM name,Start,Terminate\r\n"
    "a-us-west1-b-3,2/18/19 23:40,2/20/19 00:02\r\n"
    "a-us-central1-c-5less,2/19/19 12:07,2/19/19 14:36\r\n"
    "P100,,\r\n"
    "a-p100-us-east1-c-1,2/19/19 22:53,2/20/19 05:32\r\n"
    "Previous experiments,,\r\n"
    "8-May,created,terminated\r\n"
    "test0,09:49:51,10:28:22\r\n"
    "test1,09:49:53,10:28:22\r\n"
    "test5night,21:37:40,04:32:10\r\n"
    "14-May,,\r\n"
    "test4less,1046389:24:27,1046391:54:31\r\n"
    "7-Jun,,\r\n"
    "us-west1-b,,\r\n"
    "gpu9,10:46:19,11:55:35";  // no line end

std::vector<LifetimeRecord> read_table() {
  auto records = parse_lifetimes("lifetime.csv", kTable);
  EXPECT_TRUE(records.ok()) << records.error().message;
  return records.ok() ? std::move(records).value() : std::vector<LifetimeRecord>();
}

TEST(LifetimeTable, AServerOf2019HasTheAgeOfItsStamps) {
  const auto records = read_table();
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[0].zone, "us-west1-b");
  EXPECT_EQ(records[0].age, hours(24)) << "the limit, though the stamps are further apart";
  EXPECT_FALSE(records[0].revoked);
  EXPECT_TRUE(records[1].revoked);
  EXPECT_FALSE(records[1].stressed);
  EXPECT_EQ(records[1].age, minutes(149));
  EXPECT_EQ(records[1].hour_ended, 14);
  EXPECT_EQ(records[2].gpu, "P100");
  EXPECT_EQ(records[2].zone, "us-east1-c");
  EXPECT_EQ(records[2].year, 2019);
}

TEST(LifetimeTable, LessThanAnHourIn2018IsTheLimitButForTheServersThatTheAuthorsKnew) {
  const auto records = read_table();
  ASSERT_EQ(records.size(), 8u);
  EXPECT_TRUE(records[3].revoked) << "8-May test0 is known";
  EXPECT_EQ(records[3].age, minutes(38) + seconds(31));
  EXPECT_FALSE(records[4].revoked);
  EXPECT_EQ(records[4].age, hours(24));
}

TEST(LifetimeTable, ATimeOfDayWrapsAndHoursSince1899AreExact) {
  const auto records = read_table();
  ASSERT_EQ(records.size(), 8u);
  EXPECT_EQ(records[5].age, hours(6) + minutes(54) + seconds(30));
  EXPECT_EQ(records[6].age, hours(2) + minutes(30) + seconds(4));
  EXPECT_EQ(records[6].zone, "us-east1-b");
  EXPECT_EQ(records[7].gpu, "K80");
  EXPECT_EQ(records[7].zone, "us-west1-b");
  EXPECT_EQ(records[7].year, 2018);
}

std::string fault_of(std::string_view text) {
  const auto records = parse_lifetimes("lifetime.csv", text);
  return records.ok() ? "" : records.error().message;
}

TEST(LifetimeTable, FaultsNameFileAndLine) {
  EXPECT_EQ(fault_of("K80,,\na-us-west1-b-3,2/18/19 23:40\n"),
            "lifetime.csv:2: has 2 fields; write a name, a start and an end");
  EXPECT_EQ(fault_of("a-us-west1-b-3,2/18/19 23:40,2/20/19 00:02\n").substr(0, 15),
            "lifetime.csv:1:");
  EXPECT_EQ(fault_of("K80,,\n\na-us-west1-b-3,2/30/19 23:40,2/20/19 00:02\n"),
            "lifetime.csv:3: '2/30/19 23:40' is no time; write month/day/year hour:minute");
  EXPECT_EQ(fault_of("K80,,\na-us-west1-b-3,2/20/19 23:40,2/20/19 00:02\n"),
            "lifetime.csv:2: 'a-us-west1-b-3' ends before it starts");
  EXPECT_NE(fault_of("K81,,\n").find("unknown heading 'K81'"), std::string::npos);
  EXPECT_NE(fault_of("").find("holds no server"), std::string::npos);
  EXPECT_NE(fault_of("Previous experiments,,\n1-May,,\ntest0,1046389:24:27,01:00:00\n")
                .find("lifetime.csv:3: the end is before the start"),
            std::string::npos);
  EXPECT_NE(fault_of("Previous experiments,,\n1-May,,\ntest0,9:60:27,01:00:00\n")
                .find("'9:60:27' is no time of day"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
