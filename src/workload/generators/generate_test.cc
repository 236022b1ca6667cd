#include "workload/generators/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/test_folder.h"
#include "workload/formats/philly_table.h"
#include "workload/profiles/muri_models.h"
#include "workload/same_workload.h"

namespace orrery {
namespace {

using Options = std::map<std::string, std::string>;

Workload make(const Options& options) {
  auto result = generate("philly-like", options);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return std::move(result).value();
}

double span_s(const Workload& workload) {
  return seconds(workload.jobs.back().submitted - workload.jobs.front().submitted);
}

double gpu_s(const Workload& workload) {
  double sum = 0;
  for (const JobSpec& job : workload.jobs) sum += job.gpus * job.duration_s();
  return sum;
}

TEST(PhillyLike, TheSameSeedGivesTheSameTrace) {
  EXPECT_TRUE(same_workload(make({{"seed", "7"}}), make({{"seed", "7"}})));
  EXPECT_FALSE(same_workload(make({{"seed", "7"}}), make({{"seed", "8"}})));
}

TEST(PhillyLike, ThisTraceIsTheSameOnEveryMachine) {
  const Workload workload = make({{"seed", "1"}, {"jobs", "100000"}, {"gpus", "1000"}});
  std::uint64_t digest = 0;
  for (const JobSpec& job : workload.jobs) {
    for (const std::int64_t part :
         {static_cast<std::int64_t>(job.submitted.time_since_epoch().count()),
          static_cast<std::int64_t>(job.gpus), static_cast<std::int64_t>(job.iterations),
          static_cast<std::int64_t>(job.priority), static_cast<std::int64_t>(job.model)}) {
      digest = digest * 1099511628211u + static_cast<std::uint64_t>(part);
    }
  }
  EXPECT_EQ(digest, 4571723896084078765u);
}

TEST(PhillyLike, TheLoadAskedForIsOffered) {
  for (const Options& options :
       {Options{{"gpus", "64"}, {"load", "0.8"}}, Options{{"gpus", "10000"}, {"load", "0.8"}},
        Options{{"gpus", "256"}, {"load", "1.5"}, {"sizes", "1:40/4:20/8:40"}},
        Options{{"gpus", "6"}, {"load", "0.9"}, {"max-hours", "24"}},
        Options{{"gpus", "512"}, {"load", "0.9"}, {"arrivals", "flat"}}}) {
    for (const std::string seed : {"1", "2", "3"}) {
      Options all = options;
      all["jobs"] = "100000";
      all["seed"] = seed;
      const Workload workload = make(all);
      const double load = gpu_s(workload) / span_s(workload) / std::stod(options.at("gpus"));
      EXPECT_NEAR(load / std::stod(options.at("load")), 1, 0.02)
          << "gpus=" << options.at("gpus") << " seed=" << seed;
    }
  }
}

TEST(PhillyLike, SizesHaveTheirMeasuredShares) {
  const Workload workload = make({{"jobs", "65536"}});
  std::map<int, int> count;
  for (const JobSpec& job : workload.jobs) ++count[job.gpus];
  double total = 0;
  for (const PhillySize& size : kPhillySizes) total += size.jobs;
  for (const PhillySize& size : kPhillySizes) {
    EXPECT_NEAR(count[size.gpus], size.jobs / total * 65536, 2) << size.gpus;
  }
}

TEST(PhillyLike, DurationsHaveTheirMeasuredQuantiles) {
  const Workload workload = make({{"jobs", "100000"}, {"sizes", "8:1"}, {"gpus", "1000"}});
  std::vector<double> durations;
  for (const JobSpec& job : workload.jobs) durations.push_back(job.duration_s());
  std::ranges::sort(durations);
  // Row 3 is that of 8 GPUs. Whole iterations cut off up to a second.
  for (const std::size_t i : {4u, 7u, 11u, 14u}) {
    const auto at = static_cast<std::size_t>(kPhillyProbabilities[i] * 100000);
    EXPECT_NEAR(durations[at] / kPhillyDurations_s[3][i], 1, 0.01) << kPhillyProbabilities[i];
  }
}

TEST(PhillyLike, BusyHoursAreBusy) {
  const Workload workload = make({{"jobs", "200000"}, {"gpus", "1000"}});
  std::vector<double> by_hour(24), by_day(7);
  const double weeks = std::floor(span_s(workload) / 604800);
  ASSERT_GE(weeks, 8);
  double counted = 0;
  for (const JobSpec& job : workload.jobs) {
    const double time_s = seconds(job.submitted);
    if (time_s >= weeks * 604800) continue;
    ++counted;
    ++by_hour[static_cast<std::size_t>(std::fmod(time_s, 86400) / 3600)];
    ++by_day[static_cast<std::size_t>(std::fmod(time_s, 604800) / 86400)];
  }
  double hours = 0, days = 0;
  for (const double count : kPhillyHours) hours += count;
  for (const double count : kPhillyDays) days += count;
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_NEAR(by_hour[i] / counted, kPhillyHours[i] / hours, 0.003) << i;
  }
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_NEAR(by_day[i] / counted, kPhillyDays[i] / days, 0.005) << i;
  }
}

TEST(PhillyLike, JobsAreThoseOfTheModelTable) {
  const Workload workload = make({{"jobs", "40000"}});
  std::map<std::string_view, int> count;
  int opportunistic = 0;
  for (const JobSpec& job : workload.jobs) {
    const MuriModel* model = find_muri_model(workload.name_of(job.model));
    ASSERT_NE(model, nullptr);
    ++count[model->name];
    opportunistic += job.priority;
    const MuriProfile& profile = model->profile(job.gpus);
    EXPECT_EQ(job.iteration_s, profile.iteration_ms / 1000);
    EXPECT_EQ(job.start_cost, std::chrono::seconds(profile.start_s));
    EXPECT_EQ(workload.profiles[index(job.profile)].stage_s[1], profile.stage_ms[1] / 1000);
    EXPECT_GE(job.iterations, 1);
    EXPECT_EQ(job.iterations, std::floor(job.iterations));
  }
  EXPECT_EQ(count.size(), 8u);
  for (const auto& [name, jobs] : count) EXPECT_NEAR(jobs, 5000, 300) << name;
  EXPECT_NEAR(opportunistic, 20000, 500);
}

TEST(PhillyLike, AnotherLoadBringsTheSameJobsAtAnotherPace) {
  const Workload slow = make({{"load", "0.5"}});
  const Workload fast = make({{"load", "1"}});
  for (std::size_t i = 0; i < slow.jobs.size(); ++i) {
    EXPECT_EQ(slow.jobs[i].gpus, fast.jobs[i].gpus);
    EXPECT_EQ(slow.jobs[i].iterations, fast.jobs[i].iterations);
  }
  EXPECT_NEAR(span_s(slow) / span_s(fast), 2, 0.1);
}

TEST(PhillyLike, NoJobIsLargerOrLongerThanAllowed) {
  const Workload workload = make({{"jobs", "20000"}, {"gpus", "6"}, {"max-hours", "10"}});
  int largest = 0;
  double longest_s = 0;
  for (const JobSpec& job : workload.jobs) {
    largest = std::max(largest, job.gpus);
    longest_s = std::max(longest_s, job.duration_s());
  }
  EXPECT_EQ(largest, 6);
  EXPECT_LE(longest_s, 36000);
  EXPECT_GT(longest_s, 35990);
}

TEST(PhillyLike, AllJobsCanComeAtOnce) {
  const Workload workload = make({{"arrivals", "at-once"}});
  EXPECT_EQ(workload.jobs.back().submitted, Time{});
  EXPECT_EQ(workload.jobs.back().name, "999");
}

TEST(Generate, WrongCallsSayWhatToWriteInstead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"philly:jobs=3", "no such file, nor a generator; those are philly-like"},
      {"nowhere.csv", "no such file, nor a generator; those are philly-like"},
      {"philly-like:size=3", "has no option 'size'; the known ones are jobs, seed, gpus, load"},
      {"philly-like:jobs", "'jobs' must have the form key=value"},
      {"philly-like:jobs=3,jobs=4", "option 'jobs' comes twice"},
      {"philly-like:jobs=0", "option 'jobs': '0' is outside 1 to"},
      {"philly-like:jobs=many", "option 'jobs': 'many' is not a whole number"},
      {"philly-like:load=0", "option 'load': '0' is outside"},
      {"philly-like:gpus=0", "option 'gpus': '0' is outside"},
      {"philly-like:sizes=8", "option 'sizes': must be philly, or GPUS:WEIGHT"},
      {"philly-like:sizes=8:x", "option 'sizes': 'x' is not a number"},
      {"philly-like:models=bart", "unknown model 'bart'; the known ones are a2c"},
      {"philly-like:arrivals=never", "must be philly, flat or at-once"},
      {"philly-like:jobs=90000000,gpus=1", "years; ask for fewer jobs"},
  };
  for (const auto& [argument, message] : cases) {
    const auto result = load_workload(argument);
    ASSERT_FALSE(result.ok()) << argument;
    EXPECT_EQ(result.error().code, Code::InvalidArgument);
    EXPECT_NE(result.error().message.find(message), std::string::npos) << result.error().message;
  }
  EXPECT_EQ(generate("borg", {}).error().message,
            "unknown generator 'borg'; the known ones are philly-like, elasticflow, synergy");
}

TEST(LoadWorkload, AGeneratorStandsInForAFile) {
  const auto workload = load_workload("philly-like:jobs=50,seed=3,models=bert/gpt2", {.limit = 20});
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload.value().jobs.size(), 20u);
  EXPECT_EQ(workload.value().names.size(), 2u);
  EXPECT_TRUE(load_workload("philly-like").ok());
}

TEST(LoadWorkload, AFileOfThatNameWins) {
  const auto before = std::filesystem::current_path();
  const TestFolder folder;
  std::filesystem::current_path(folder.path());
  std::ofstream("philly-like:jobs=5") << "job_id,submit_s,gpus,duration_s\nmine,0,1,5\n";
  const auto workload = load_workload("philly-like:jobs=5");
  std::filesystem::current_path(before);
  ASSERT_TRUE(workload.ok()) << workload.error().message;
  EXPECT_EQ(workload.value().jobs.at(0).name, "mine");
}

TEST(LoadWorkload, TheShippedExampleIsWhatItsPageSays) {
  const auto shipped = load_workload(std::string(ORRERY_SOURCE) + "/data/demo.csv");
  ASSERT_TRUE(shipped.ok()) << shipped.error().message;
  EXPECT_EQ(shipped.value().name, "demo");
  const Workload made = make({{"jobs", "100"},
                              {"seed", "4"},
                              {"gpus", "32"},
                              {"load", "1.1"},
                              {"sizes", "1:45/2:10/4:20/8:20/16:5"},
                              {"max-hours", "120"}});
  EXPECT_TRUE(same_workload(shipped.value(), made));
}

TEST(LoadWorkload, AnOptionThatTheWordLacksCanBeAdded) {
  EXPECT_TRUE(lacks_option("philly-like", "load"));
  EXPECT_TRUE(lacks_option("philly-like:jobs=3", "load"));
  EXPECT_FALSE(lacks_option("philly-like:load=0.5", "load")) << "it states one";
  EXPECT_FALSE(lacks_option("philly-like", "split")) << "another generator's";
  EXPECT_FALSE(lacks_option("no-such-file.csv", "load"));
  EXPECT_EQ(with_option("philly-like", "load", "0.5"), "philly-like:load=0.5");
  EXPECT_EQ(with_option("philly-like:jobs=3", "load", "0.5"), "philly-like:jobs=3,load=0.5");
  const TestFolder folder;
  EXPECT_FALSE(lacks_option(folder.path(), "load")) << "a file or folder";
}

}  // namespace
}  // namespace orrery
