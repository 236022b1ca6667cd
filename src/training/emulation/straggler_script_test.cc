#include "training/emulation/straggler_script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace orrery {
namespace {

using std::chrono::seconds;

StragglerScript script(const std::string& text, int servers = 8, std::uint64_t seed = 1) {
  auto parsed = parse_straggler_script(text, "lines.txt", servers, seed, seconds(600));
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  return parsed.ok() ? std::move(parsed).value() : StragglerScript{};
}

std::string refused(const std::string& text, int servers = 8) {
  auto parsed = parse_straggler_script(text, "lines.txt", servers, 1, seconds(600));
  EXPECT_FALSE(parsed.ok()) << text;
  return parsed.ok() ? "" : parsed.error().message;
}

double cpu_at(const StragglerScript& script, int second, int server) {
  return share_at(script, Time(seconds(second)), server, ServerResource::Cpu);
}

TEST(StragglerScript, AStepHoldsFromItsTimeOnForItsServersAlone) {
  const StragglerScript steps = script("# slow\n\nat 30s server 1,3-4 cpu 0.25 # a quarter\n");
  EXPECT_EQ(steps.name, "lines");
  EXPECT_EQ(cpu_at(steps, 29, 3), 1);
  EXPECT_EQ(cpu_at(steps, 30, 3), 0.25);
  EXPECT_EQ(cpu_at(steps, 599, 1), 0.25);
  EXPECT_EQ(cpu_at(steps, 599, 2), 1);
  EXPECT_EQ(share_at(steps, Time(seconds(40)), 3, ServerResource::Bandwidth), 1);
}

TEST(StragglerScript, AtOneTimeTheLaterLineCounts) {
  const StragglerScript steps =
      script("at 10 server all cpu 0.5\nat 10 server last cpu 0.1 for 5\n", 4);
  EXPECT_EQ(cpu_at(steps, 10, 0), 0.5);
  EXPECT_EQ(cpu_at(steps, 10, 3), 0.1);
  EXPECT_EQ(cpu_at(steps, 15, 3), 1);
  EXPECT_EQ(steps.steps.size(), 5u);
}

TEST(StragglerScript, OnAndOffAlternateUntilTheHorizon) {
  const StragglerScript steps = script("every 120s for 60s server 3 cpu 0.1 after 30s");
  EXPECT_EQ(cpu_at(steps, 29, 3), 1);
  for (const int period : {0, 120, 240, 360, 480}) {
    EXPECT_EQ(cpu_at(steps, period + 30, 3), 0.1);
    EXPECT_EQ(cpu_at(steps, period + 90, 3), 1);
  }
  EXPECT_LE(steps.steps.back().at, Time(seconds(600)));
}

TEST(StragglerScript, AWalkStaysInItsRangeMovesAndIsMovedByTheSeedAlone) {
  const std::string text = "walk cpu server 0-1 from 0.4 to 0.9 every 5s";
  const StragglerScript once = script(text), again = script(text), other = script(text, 8, 2);
  ASSERT_EQ(once.steps.size(), 2 * 121u);
  std::set<double> shares;
  bool differs = false;
  for (std::size_t i = 0; i < once.steps.size(); ++i) {
    EXPECT_GE(once.steps[i].share, 0.4);
    EXPECT_LE(once.steps[i].share, 0.9);
    EXPECT_EQ(once.steps[i].share, again.steps[i].share);
    differs |= once.steps[i].share != other.steps[i].share;
    shares.insert(once.steps[i].share);
  }
  EXPECT_TRUE(differs);
  EXPECT_GT(shares.size(), 200u) << "two servers, each by itself";
}

TEST(StragglerScript, StepsAscend) {
  const StragglerScript steps = script(
      "walk bandwidth server all from 0.1 to 1 every 7s\nevery 20s for 3s server 2 cpu 0.5\n"
      "at 9s server 0 cpu 0.2\n");
  for (std::size_t i = 1; i < steps.steps.size(); ++i) {
    EXPECT_LE(steps.steps[i - 1].at, steps.steps[i].at);
  }
}

TEST(StragglerScript, FaultsSayWhereAndWhatToWrite) {
  EXPECT_EQ(refused("\nat 3s server 9 cpu 0.5"),
            "lines.txt:2: there is no server 9; this run has 8, from 0 to 7");
  EXPECT_NE(refused("at 3s server 1 cpuu 0.5").find("did you mean 'cpu'?"), std::string::npos);
  EXPECT_NE(refused("at 3s server 1 cpu 4").find("'4' is no share; write one from 0.001 to 1"),
            std::string::npos);
  EXPECT_NE(refused("at 3x server 1 cpu 1").find("'3x' is no length of time"), std::string::npos);
  EXPECT_NE(refused("at 3s server").find("'server' is followed by nothing"), std::string::npos);
  EXPECT_NE(refused("at 3s cpu 0.5").find("'server' is missing"), std::string::npos);
  EXPECT_NE(refused("at 3s server 1").find("'cpu' or 'bandwidth' is missing"), std::string::npos);
  EXPECT_NE(refused("at 3s server 1 cpu 1 cpu 1").find("said twice"), std::string::npos);
  EXPECT_NE(refused("every 5s for 5s server 1 cpu 0.5").find("never ends"), std::string::npos);
  EXPECT_NE(refused("every 0s for 5s server 1 cpu 0.5").find("never goes on"), std::string::npos);
  EXPECT_NE(refused("walk cpu server 1 from 1 to 0.4 every 5s").find("'from' is more than 'to'"),
            std::string::npos);
  EXPECT_NE(refused("walk cpu server 1 every 5s").find("'from' or 'to' is missing"),
            std::string::npos);
  EXPECT_NE(refused("every 1ms for 0.5ms server all cpu 0.5").find("more than 1000000 steps"),
            std::string::npos);
  for (const char* const servers : {"3-1", "-1", "a", "1-", ",", "99999999999"}) {
    EXPECT_NE(refused(std::string("at 0 server ") + servers + " cpu 1").find("names no servers"),
              std::string::npos)
        << servers;
  }
}

TEST(StragglerScript, TheOnesThatComeAlongAreReadWithEightServers) {
  int read = 0;
  for (const auto& file : std::filesystem::directory_iterator(ORRERY_SOURCE "/data/stragglers")) {
    auto parsed = read_straggler_script(file.path(), 8, 1, seconds(600));
    EXPECT_TRUE(parsed.ok()) << parsed.error().message;
    ++read;
  }
  EXPECT_GE(read, 5);
  EXPECT_FALSE(read_straggler_script("not/there.txt", 8, 1, seconds(600)).ok());
}

}  // namespace
}  // namespace orrery
