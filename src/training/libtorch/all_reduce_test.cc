#include "training/libtorch/all_reduce.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "training/libtorch/learner.h"

namespace orrery {
namespace {

constexpr int kRanks = 3, kMost = 8;
constexpr std::size_t kFloats = 10007;  // no multiple of anything a ring may cut it into

float value_of(int rank, std::size_t i) {
  return static_cast<float>(rank + 1) / static_cast<float>(i % 97 + 3);
}

std::vector<float> values_of(int rank) {
  std::vector<float> values(kFloats);
  for (std::size_t i = 0; i < kFloats; ++i) values[i] = value_of(rank, i);
  return values;
}

void expect_sum(const std::vector<float>& sum, const std::vector<int>& ranks) {
  std::vector<float> wanted(kFloats);
  for (const int rank : ranks) {
    const auto values = values_of(rank);
    for (std::size_t i = 0; i < kFloats; ++i) wanted[i] += values[i];
  }
  for (std::size_t i = 0; i < kFloats; ++i) ASSERT_NEAR(sum[i], wanted[i], 1e-5F);
}

// What a rank's process finds in its environment.
struct RankPlace {
  int rank = 0;
  std::uint16_t port = 0;
  std::string folder{};
  std::string device{};
};
RankPlace rank_place() {
  return {std::atoi(std::getenv("ORRERY_TEST_RANK")),
          static_cast<std::uint16_t>(std::atoi(std::getenv("ORRERY_TEST_PORT"))),
          std::getenv("ORRERY_TEST_FOLDER"), std::getenv("ORRERY_TEST_DEVICE")};
}

std::unique_ptr<AllReduceGroup> join(const RankPlace& place, const std::string& name, int rank,
                                     int size) {
  auto joined = join_all_reduce({.host = "127.0.0.1",
                                 .port = place.port,
                                 .own_address = "127.0.0.1",
                                 .name = name,
                                 .rank = rank,
                                 .size = size,
                                 .patience = std::chrono::seconds(20),
                                 .device = place.device});
  EXPECT_TRUE(joined.ok()) << (joined.ok() ? "" : joined.error().message);
  return joined.ok() ? std::move(joined).value() : nullptr;
}

void leave_behind(const RankPlace& place, std::span<const float> values) {
  std::ofstream(place.folder + "/" + std::to_string(place.rank), std::ios::binary)
      .write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
}

// A rank is this program again, which runs one of these alone: torch's threads do not survive a
// fork. Their names keep them out of other runs.
TEST(AllReduceRank, DISABLED_SumsAndCopies) {
  const RankPlace me = rank_place();
  const auto group = join(me, "first", me.rank, kRanks);
  ASSERT_TRUE(group);
  auto values = values_of(me.rank);
  ASSERT_TRUE(group->sum(values).ok());
  expect_sum(values, {0, 1, 2});
  leave_behind(me, values);
  auto copy = values_of(me.rank);
  ASSERT_TRUE(group->copy_from(1, copy).ok());
  EXPECT_EQ(copy, values_of(1));
}

// Groups of every size, and less to sum than there are members.
TEST(AllReduceRank, DISABLED_SumsInEverySize) {
  const RankPlace me = rank_place();
  std::vector<float> sums;
  for (int size = 2; size <= kMost; ++size) {
    if (me.rank >= size) continue;
    const auto group = join(me, "of" + std::to_string(size), me.rank, size);
    ASSERT_TRUE(group);
    for (const std::size_t floats : {kFloats, std::size_t{3}}) {
      auto values = values_of(me.rank);
      values.resize(floats);
      ASSERT_TRUE(group->sum(values).ok()) << size << " members, " << floats << " floats";
      for (std::size_t i = 0; i < floats; ++i) {
        float wanted = 0;
        for (int rank = 0; rank < size; ++rank) wanted += value_of(rank, i);
        ASSERT_NEAR(values[i], wanted, 1e-5F * wanted) << size << " members, float " << i;
      }
      sums.insert(sums.end(), values.begin(), values.end());
    }
  }
  // Those of the greatest group are the last, and all have them.
  leave_behind(me, std::span(sums).last(kFloats + 3));
}

TEST(AllReduceRank, DISABLED_LosesTheLast) {
  const RankPlace me = rank_place();
  auto group = join(me, "first", me.rank, kRanks);
  ASSERT_TRUE(group);
  auto values = values_of(me.rank);
  ASSERT_TRUE(group->sum(values).ok());
  if (me.rank == kRanks - 1) ::raise(SIGKILL);
  const Status broken = group->sum(values);
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, Code::Unavailable) << broken.error().message;
  group = join(me, "second", me.rank, kRanks - 1);
  ASSERT_TRUE(group);
  values = values_of(me.rank);
  ASSERT_TRUE(group->sum(values).ok());
  expect_sum(values, {0, 1});
  leave_behind(me, values);
}

TEST(AllReduceRank, DISABLED_TrainsAReplica) {
  const RankPlace me = rank_place();
  const auto group = join(me, "first", me.rank, kRanks);
  const auto learner = make_learner({}).value();
  ASSERT_TRUE(group);
  std::vector<float> values(learner->parameters().begin(), learner->parameters().end());
  for (int step = 0; step < 20; ++step) {
    const std::int64_t first = (std::int64_t{step} * kRanks + me.rank) * 8;
    ASSERT_TRUE(learner->compute({.first = first, .count = 8}, 1, {}).ok());
    std::vector<float> sum(learner->gradient().begin(), learner->gradient().end());
    ASSERT_TRUE(group->sum(sum).ok());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= 0.1F / kRanks * sum[i];
    ASSERT_TRUE(learner->set_parameters(values).ok());
  }
  leave_behind(me, learner->parameters());
}

// Where groups can sum here.
std::vector<std::string> devices() {
  std::vector<std::string> all = {"cpu"};
  if (!gpu_name("cuda:0").empty()) all.push_back("cuda:0");
  return all;
}

class AllReduce : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "cpu" && !place_->sums_on_cpus()) GTEST_SKIP() << "built without Gloo";
  }
  AllReduce() {
    std::string made = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~AllReduce() override { std::filesystem::remove_all(folder_); }

  // Runs every rank to its end; gives back how each ended, as waitpid says it.
  std::vector<int> run(const std::string& what, int count = kRanks) {
    std::vector<pid_t> ranks;
    for (int rank = 0; rank < count; ++rank) {
      ::setenv("ORRERY_TEST_RANK", std::to_string(rank).c_str(), 1);
      ::setenv("ORRERY_TEST_PORT", std::to_string(place_->port()).c_str(), 1);
      ::setenv("ORRERY_TEST_FOLDER", folder_.c_str(), 1);
      ::setenv("ORRERY_TEST_DEVICE", GetParam().c_str(), 1);
      // NCCL refuses two on one GPU, unless it takes them for two machines.
      ::setenv("NCCL_HOSTID", std::to_string(rank).c_str(), 1);
      ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
      std::string filter = "--gtest_filter=AllReduceRank.DISABLED_" + what;
      std::string program = "/proc/self/exe", also = "--gtest_also_run_disabled_tests";
      char* arguments[] = {program.data(), filter.data(), also.data(), nullptr};
      pid_t pid = 0;
      EXPECT_EQ(::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ), 0);
      ranks.push_back(pid);
    }
    std::vector<int> ends;
    for (const pid_t pid : ranks) ::waitpid(pid, &ends.emplace_back(-1), 0);
    return ends;
  }

  std::string left_by(int rank) const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/" + std::to_string(rank), std::ios::binary).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::unique_ptr<MeetingPlace> place_ = open_meeting_place("127.0.0.1").value();
};

TEST_P(AllReduce, EveryRankGetsTheSameSumToTheBit) {
  EXPECT_EQ(run("SumsAndCopies"), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(left_by(0).size(), kFloats * sizeof(float));
  EXPECT_EQ(left_by(0), left_by(1));
  EXPECT_EQ(left_by(0), left_by(2));
}

TEST_P(AllReduce, GroupsOfEverySizeSumTheSameEverywhere) {
  EXPECT_EQ(run("SumsInEverySize", kMost), std::vector<int>(kMost, 0));
  EXPECT_EQ(left_by(0).size(), (kFloats + 3) * sizeof(float));
  for (int rank = 1; rank < kMost; ++rank) EXPECT_EQ(left_by(0), left_by(rank)) << rank;
}

TEST_P(AllReduce, MembersThatAreLeftFormTheNextGroup) {
  const auto ends = run("LosesTheLast");
  EXPECT_EQ(ends[0], 0);
  EXPECT_EQ(ends[1], 0);
  EXPECT_TRUE(WIFSIGNALED(ends[2]) && WTERMSIG(ends[2]) == SIGKILL);
  EXPECT_EQ(left_by(0).size(), kFloats * sizeof(float));
  EXPECT_EQ(left_by(0), left_by(1));
}

TEST_P(AllReduce, ReplicasStayTheSameToTheBit) {
  EXPECT_EQ(run("TrainsAReplica"), (std::vector<int>{0, 0, 0}));
  EXPECT_FALSE(left_by(0).empty());
  EXPECT_EQ(left_by(0), left_by(1));
  EXPECT_EQ(left_by(0), left_by(2));
}

TEST_P(AllReduce, AMemberThatWaitsInVainGetsAnError) {
  const auto joined = join_all_reduce({.host = "127.0.0.1",
                                       .port = place_->port(),
                                       .own_address = "127.0.0.1",
                                       .name = "alone",
                                       .rank = 0,
                                       .size = 2,
                                       .patience = std::chrono::milliseconds(50),
                                       .device = GetParam()});
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code, Code::DeadlineExceeded) << joined.error().message;
}

INSTANTIATE_TEST_SUITE_P(Groups, AllReduce, testing::ValuesIn(devices()), [](const auto& device) {
  return device.param.substr(0, device.param.find(':'));
});

TEST(AllReduceOfOne, NeedsNoOther) {
  const auto group = join_all_reduce({.size = 1}).value();
  std::vector<float> values{1, 2};
  EXPECT_TRUE(group->sum(values).ok());
  EXPECT_EQ(values, (std::vector<float>{1, 2}));
  EXPECT_FALSE(join_all_reduce({.rank = 1, .size = 1}).ok());
}

}  // namespace
}  // namespace orrery
