#include "live/api/output_pattern.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

const OutputNames kNames{.job = 17,
                         .array_job = 15,
                         .array_index = 3,
                         .rank = 2,
                         .node = 1,
                         .node_name = "gpu-7",
                         .user = "ann",
                         .name = "resnet/50"};

TEST(OutputPattern, EachPatternStandsForOneProperty) {
  EXPECT_EQ(expand_output("/out/%x-%u-%j-%A_%a.%r.%t.%n.%N", kNames),
            "/out/resnet_50-ann-17-15_3.2.2.1.gpu-7");
}

TEST(OutputPattern, AWidthPadsNumbersWithZeros) {
  EXPECT_EQ(expand_output("/out/%5j.%03r", kNames), "/out/00017.002");
  EXPECT_EQ(expand_output("/out/%99999j", kNames), "/out/0000000017");
}

TEST(OutputPattern, TwoPercentSignsAreOne) {
  EXPECT_EQ(expand_output("/out/100%%.%%j", kNames), "/out/100%.%j");
}

TEST(OutputPattern, WhatIsNoPatternStaysAsItIs) {
  EXPECT_EQ(expand_output("/out/%q%5", kNames), "/out/%q%5");
  EXPECT_EQ(expand_output("/out/plain", kNames), "/out/plain");
  EXPECT_EQ(expand_output("", kNames), "");
}

TEST(OutputPattern, AnUnknownPatternIsRefused) {
  EXPECT_TRUE(check_output_pattern("/out/%j.%r.%%", false).ok());
  EXPECT_TRUE(check_output_pattern("/out/%A_%a", true).ok());
  const Status unknown = check_output_pattern("/out/%q", false);
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("no pattern '%q'"), std::string::npos);
  EXPECT_FALSE(check_output_pattern("/out/50%", false).ok());
}

TEST(OutputPattern, AnArraysIndexNeedsAnArray) {
  EXPECT_FALSE(check_output_pattern("/out/%a", false).ok());
  EXPECT_TRUE(check_output_pattern("/out/%A", false).ok()) << "of a job alone it is the job's";
}

}  // namespace
}  // namespace orrery
