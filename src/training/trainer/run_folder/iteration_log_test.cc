#include "training/trainer/run_folder/iteration_log.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

constexpr std::string_view kHeader =
    "time_s,worker,task,took_s,samples,staleness,loss,norm2,cpu_share,throttled_share,"
    "in_bytes_per_s,out_bytes_per_s\n";

std::string log(const std::string& lines) { return std::string(kHeader) + lines; }

TEST(IterationLog, EveryWorkerIsASeriesInTheOrderOfItsTasks) {
  const auto series =
      parse_iterations(log("1.5,1,3,0.25,32,0,2.1,0.5,0.9,0.1,100,200\n"
                           "1.6,0,2,0.20,16,1,2.0,0.4,0.8,0,0,0\n"
                           "2.5,1,5,0.50,32,-1,1.9,0.3,0.7,0,0,0\n"));
  ASSERT_TRUE(series.ok()) << series.error().message;
  ASSERT_EQ(series.value().size(), 2u);
  EXPECT_EQ(series.value()[0].worker, WorkerId{0});
  ASSERT_EQ(series.value()[1].samples.size(), 2u);
  const IterationSample& first = series.value()[1].samples[0];
  EXPECT_EQ(first.took, std::chrono::milliseconds(250));
  EXPECT_EQ(first.samples, 32);
  EXPECT_EQ(first.usage.throttled_share, 0.1);
  EXPECT_EQ(series.value()[1].samples[1].staleness, -1);
}

TEST(IterationLog, HalfALineAtTheEndIsWhereARunWasKilled) {
  const auto series =
      parse_iterations(log("1.5,1,3,0.25,32,0,2.1,0.5,0.9,0.1,100,200\n1.6,0,2,0.2"));
  ASSERT_TRUE(series.ok());
  EXPECT_EQ(series.value().size(), 1u);
}

TEST(IterationLog, WhatIsNoTaskIsRefusedWithItsLine) {
  const std::string good = "1.5,1,3,0.25,32,0,2.1,0.5,0.9,0.1,100,200\n";
  for (const std::string bad :
       {"1.5,1,3,0,32,0,2.1,0.5,0.9,0.1,100,200\n", "1.5,1,3,0.25,0,0,2.1,0.5,0.9,0.1,100,200\n",
        "1.5,1,3,0.25,32,0,nan,0.5,0.9,0.1,100,200\n", "a,b\n",
        "1.5,99999999999,3,0.25,32,0,2.1,0.5,0.9,0.1,100,200\n"}) {
    const auto series = parse_iterations(log(good + bad + good));
    ASSERT_FALSE(series.ok()) << bad;
    EXPECT_NE(series.error().message.find("line 3"), std::string::npos) << series.error().message;
  }
  EXPECT_FALSE(parse_iterations("something else\n").ok());
}

}  // namespace
}  // namespace orrery
