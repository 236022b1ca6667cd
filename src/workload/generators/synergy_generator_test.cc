#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "workload/generators/generate.h"
#include "workload/generators/synergy_models.h"
#include "workload/same_workload.h"

namespace orrery {
namespace {

using Options = std::map<std::string, std::string>;

Workload make(const Options& options) {
  auto result = generate("synergy", options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : Workload();
}

std::string written(const Workload& workload) {
  std::ostringstream out;
  EXPECT_TRUE(write_synergy_trace(workload, out).ok());
  return out.str();
}

TEST(SynergyGenerator, TheFirstJobsAreThoseOfThePublishedGenerator) {
  EXPECT_EQ(written(make({{"load", "4"}, {"seed", "42"}, {"jobs", "8"}})),
            "0,alexnet,919,8176,1\n1,gnmt,1936,610813,1\n2,transformer,2025,22651,1\n"
            "3,m5,2515,8265,4\n4,lstm,3594,295105,8\n5,gnmt,3692,54630,1\n"
            "6,res18,5174,18893,8\n7,transformer,5248,24833,4\n");
}

TEST(SynergyGenerator, SingleChangesNothingButTheGpus) {
  const Workload multi = make({{"jobs", "300"}});
  const Workload single = make({{"jobs", "300"}, {"gpus", "single"}});
  std::map<int, int> sizes;
  for (std::size_t i = 0; i < multi.jobs.size(); ++i) {
    EXPECT_EQ(single.jobs[i].gpus, 1);
    EXPECT_EQ(single.jobs[i].submitted, multi.jobs[i].submitted);
    EXPECT_EQ(single.jobs[i].iterations, multi.jobs[i].iterations);
    ++sizes[multi.jobs[i].gpus];
  }
  EXPECT_EQ(sizes.size(), 4u);
  EXPECT_NEAR(sizes[1], 210, 25);
  EXPECT_NEAR(sizes[8], 15, 9);
}

TEST(SynergyGenerator, FewerJobsAreTheFirstOfMore) {
  Workload more = make({{"jobs", "2000"}});
  const Workload fewer = make({{"jobs", "500"}});
  more.jobs.resize(500);
  EXPECT_TRUE(same_workload(more, fewer));
}

TEST(SynergyGenerator, ClassesKeepToTheirShares) {
  for (const auto& [split, shares] :
       std::map<std::string, std::array<int, 3>>{{"20/70/10", {200, 700, 100}},
                                                 {"33/33/33", {334, 333, 333}},
                                                 {"50/0/50", {500, 0, 500}}}) {
    const Workload workload = make({{"split", split}});
    ASSERT_EQ(workload.jobs.size(), 1000u);
    std::array<int, 3> count{};
    for (const JobSpec& job : workload.jobs) {
      const SynergyModel* model = find_synergy_model(workload.name_of(job.model));
      ++count[static_cast<std::size_t>(model->task)];
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(count[i], shares[i], 1) << split;
  }
}

TEST(SynergyGenerator, DurationsAreThoseWithTheProportionalShareOfTheCluster) {
  const Workload three = make({});
  for (const std::string cpus : {"4", "5", "6"}) {
    const Workload other = make({{"cpus-per-gpu", cpus}});
    const auto column = static_cast<std::size_t>(cpus[0] - '3');
    for (std::size_t i = 0; i < three.jobs.size(); ++i) {
      const SynergyModel* model = find_synergy_model(three.name_of(three.jobs[i].model));
      EXPECT_EQ(other.jobs[i].iteration_s, model->iteration_s[0]) << "at speed 1 of the matrix";
      EXPECT_EQ(other.jobs[i].sensitivity, three.jobs[i].sensitivity);
      EXPECT_NEAR(other.jobs[i].iterations * model->iteration_s[column], three.jobs[i].duration_s(),
                  1.5 * model->iteration_s[0])
          << cpus;
    }
  }
}

TEST(SynergyGenerator, DurationsLieInThePublishedRange) {
  const auto range = [](const Workload& workload) {
    double low = 1e9;
    double high = 0;
    for (const JobSpec& job : workload.jobs) {
      low = std::min(low, job.duration_s() / 60);
      high = std::max(high, job.duration_s() / 60);
    }
    return std::pair(low, high);
  };
  const auto [low, high] = range(make({{"jobs", "5000"}}));
  EXPECT_NEAR(low, 31.7, 1);
  EXPECT_NEAR(high, 9900, 150);
  const auto [small_low, small_high] = range(make({{"jobs", "5000"}, {"durations", "small"}}));
  EXPECT_NEAR(small_low, 31.7, 1);
  EXPECT_NEAR(small_high, 501, 5);
}

TEST(SynergyGenerator, StaticJobsAreTheSameJobsAtOnce) {
  const Workload spread = make({});
  const Workload at_once = make({{"static", "true"}});
  for (std::size_t i = 0; i < spread.jobs.size(); ++i) {
    EXPECT_EQ(at_once.jobs[i].submitted, Time(std::chrono::milliseconds(i)));
    EXPECT_EQ(at_once.jobs[i].iterations, spread.jobs[i].iterations);
  }
}

TEST(SynergyGenerator, LoadIsJobsAnHour) {
  const Workload workload = make({{"jobs", "9000"}, {"load", "9"}});
  EXPECT_NEAR(seconds(workload.jobs.back().submitted) / 3600, 1000, 30);
}

TEST(SynergyGenerator, GoesOnIfTheNumberOfJobsIsNotGiven) {
  EXPECT_TRUE(goes_on("synergy"));
  EXPECT_TRUE(goes_on("synergy:load=9"));
  EXPECT_FALSE(goes_on("synergy:jobs=9"));
  EXPECT_FALSE(goes_on("synergy:static=true"));
  EXPECT_FALSE(goes_on("philly-like"));
  EXPECT_FALSE(goes_on("no-such-file"));
  EXPECT_EQ(load_workload("synergy", {.drawn = 1234}).value().jobs.size(), 1234u);
  EXPECT_EQ(load_workload("synergy:jobs=9", {.drawn = 1234}).value().jobs.size(), 9u);
}

TEST(SynergyGenerator, BadOptionsAreNamed) {
  for (const auto& [option, message] : std::map<std::pair<std::string, std::string>, std::string>{
           {{"gpus", "8"}, "option 'gpus': must be multi or single"},
           {{"split", "20/80"}, "option 'split': must be three numbers of per cent"},
           {{"split", "20/70/ten"}, "option 'split': 'ten' is not a number"},
           {{"split", "20/70/10/0"}, "option 'split': '10/0' is not a number"},
           {{"split", ""}, "option 'split': must be three numbers"},
           {{"split", "20/70/-10"}, "option 'split': '-10' is outside 0 to 100"},
           {{"load", "0"}, "option 'load': '0' is outside"},
           {{"jobs", "0"}, "option 'jobs': '0' is outside 1 to"},
           {{"seed", "-1"}, "option 'seed': '-1' is outside"},
           {{"durations", "long"}, "option 'durations': must be normal or small"},
           {{"cpus-per-gpu", "7"}, "option 'cpus-per-gpu': '7' is outside 3 to 6"},
           {{"static", "yes"}, "option 'static': must be false or true"},
           {{"size", "1"}, "synergy has no option 'size'"}}) {
    const auto result = generate("synergy", {option});
    ASSERT_FALSE(result.ok()) << option.first;
    EXPECT_TRUE(result.error().message.starts_with(message)) << result.error().message;
  }
  EXPECT_EQ(generate("synergy", {{"load", "0.001"}, {"jobs", "900000"}}).error().message,
            "the jobs arrive for more than 100 years; ask for fewer, or a higher load");
}

}  // namespace
}  // namespace orrery
