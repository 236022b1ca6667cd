#include "live/client/job_texts.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TEST(JobTexts, MemoryNeedsAUnitAndTakesBothKinds) {
  EXPECT_EQ(parse_memory("16G").value(), std::int64_t{16} << 30);
  EXPECT_EQ(parse_memory("16GiB").value(), std::int64_t{16} << 30);
  EXPECT_EQ(parse_memory("16GB").value(), 16'000'000'000);
  EXPECT_EQ(parse_memory("1.5T").value(), std::int64_t{3} << 39);
  EXPECT_EQ(parse_memory("500M").value(), std::int64_t{500} << 20);
  for (const char* bad : {"16", "", "G", "16X", "-1G", "1e3G", "16Gb", "99999T", "0G", "1.2.3G"}) {
    const auto refused = parse_memory(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_NE(refused.error().message.find("write 500M, 16G"), std::string::npos);
  }
}

TEST(JobTexts, MemoryIsShownShort) {
  EXPECT_EQ(memory_text(std::int64_t{16} << 30), "16G");
  EXPECT_EQ(memory_text(std::int64_t{3} << 39), "1.50T");
  EXPECT_EQ(memory_text(0), "0B");
  EXPECT_EQ(memory_text((std::int64_t{1} << 30) - 1), "1.00G");
}

TEST(JobTexts, ArraysAreNumbersRangesAndSteps) {
  EXPECT_EQ(parse_array("1,3,5-7").value(), (std::vector<int>{1, 3, 5, 6, 7}));
  EXPECT_EQ(parse_array("0-100:25").value(), (std::vector<int>{0, 25, 50, 75, 100}));
  EXPECT_EQ(parse_array("0-9:4").value(), (std::vector<int>{0, 4, 8}));
  EXPECT_EQ(parse_array("1-100").value().size(), 100U);
  for (const char* bad : {"", "1-", "-1", "5-1", "1,,2", "1,2,1", "1-10:0", "7:2", "x", "1-100001",
                          "1-9223372036854775807", "1-2000000000", "0-0:99999999999999999999"}) {
    EXPECT_FALSE(parse_array(bad).ok()) << bad;
  }
}

TEST(JobTexts, JobsAreNumberedFromOne) {
  EXPECT_EQ(parse_job_numbers("17-19").value(), (std::vector<JobNumber>{17, 18, 19}));
  EXPECT_FALSE(parse_job_numbers("0").ok());
  EXPECT_FALSE(parse_job_numbers("0-3").ok());
  EXPECT_FALSE(parse_job_numbers("train").ok());
}

TEST(JobTexts, ElasticIsTheFewestAndTheMost) {
  EXPECT_EQ(parse_elastic("1..8").value(), (std::pair{1, 8}));
  for (const char* bad : {"8", "8..1", "0..4", "1...4", "1-8", "..", "1..9999999"}) {
    const auto refused = parse_elastic(bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_NE(refused.error().message.find("such as 1..8"), std::string::npos);
  }
}

TEST(JobTexts, CpusMayBeParts) {
  EXPECT_EQ(parse_cpus("8").value(), 8000);
  EXPECT_EQ(parse_cpus("0.5").value(), 500);
  for (const char* bad : {"0", "-1", "nan", "inf", "8c", "", "1e9"}) {
    EXPECT_FALSE(parse_cpus(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace orrery
