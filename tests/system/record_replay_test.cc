#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string kTrace = "synergy:jobs=60,load=9,durations=small";
const std::string kCluster =
    "[CLUSTER]\nracks = 1\nservers_per_rack = 2\ngpus_per_server = 8\ncpus_per_server = 24\n"
    "dram_per_server = 500\nsspeed_per_server = 500\n";

class RecordReplay : public testing::Test {
 protected:
  Finished record(const std::string& out, const Words& more = {}) const {
    Words words = {"record", "--trace", kTrace, "--cluster", cluster_, "--quiet", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    return run_orrery(words);
  }

  // A log of a run under this policy, and its lines.
  std::string recorded(const std::string& policy, const Words& more = {}) const {
    const std::string log = folder_.file("log.jsonl");
    Words words = {"--policy", policy};
    words.insert(words.end(), more.begin(), more.end());
    const Finished run = record(log, words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return log;
  }

  TestFolder folder_;
  std::string cluster_ = folder_.write("cluster.ini", kCluster);
};

Finished replay(const std::string& file, Words more = {}) {
  more.insert(more.begin(), {"replay", file, "--quiet"});
  return run_orrery(more);
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(file_text(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST_F(RecordReplay, ARunIsMadeAgainDecisionByDecisionInEveryWorld) {
  for (const char* world : {"orrery", "muri", "elasticflow", "synergy"}) {
    for (const char* policy : {"srtf+tune", "las", "muri-l", "gittins"}) {
      const std::string log = recorded(policy, {"--semantics", world, "--seed", "3"});
      const Finished again = replay(log, {"--json"});
      ASSERT_EQ(again.exit_code, 0) << policy << " in " << world << again.out << again.err;
      const Json answer = Json::parse(again.out);
      EXPECT_EQ(answer["same"], true);
      EXPECT_EQ(answer["events_agreed"], lines_of(log).size() - 1);
      EXPECT_EQ(answer["cut"], false);
    }
  }
}

TEST_F(RecordReplay, OptionsRoundsErrorsAndWindowsAreReplayedToo) {
  const std::string log =
      recorded("fifo+greedy+place:sticky=false",
               {"--round", "60s", "--speed-error", "0.2", "--seed", "9", "--window", "10-20"});
  const Finished again = replay(log);
  ASSERT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_NE(again.out.find("No difference"), std::string::npos) << again.out;
}

TEST_F(RecordReplay, TheFirstChangedDecisionIsNamedWithTimeAndJob) {
  std::vector<std::string> lines = lines_of(recorded("fifo+tune"));
  const std::string before = R"("event":"started","job":3,)";
  for (std::string& line : lines) {
    if (line.find(before) == std::string::npos) continue;
    const std::size_t cpus = line.find("\"cpu_milli\":");
    ASSERT_NE(cpus, std::string::npos) << line;
    line.insert(cpus + 12, "1");
  }
  const std::string changed = folder_.write("changed.jsonl", joined(lines));
  const Finished run = replay(changed);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "orrery: the replay differs from the record\n");
  for (const char* part : {"The first difference, after ", "  recorded: at ", "  replayed: at ",
                           "job '3' started on", " CPUs and "}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part << run.out;
  }
  const Json answer = Json::parse(replay(changed, {"--json"}).out);
  EXPECT_EQ(answer["same"], false);
  EXPECT_EQ(answer["difference"]["recorded"]["job"], "3");
  EXPECT_NE(answer["difference"]["recorded"]["decision"],
            answer["difference"]["replayed"]["decision"]);
}

TEST_F(RecordReplay, ALogThatWasCutIsFollowedAsFarAsItGoes) {
  std::vector<std::string> lines = lines_of(recorded("srtf+proportional"));
  lines.resize(lines.size() / 2);
  const Finished run = replay(folder_.write("cut.jsonl", joined(lines)));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("The log ends before the run did."), std::string::npos) << run.out;
}

TEST_F(RecordReplay, AnotherPolicyIsComparedWithTheRecord) {
  const std::string log = folder_.file("log.jsonl.zst");
  ASSERT_EQ(record(log, {"--policy", "fifo+tune"}).exit_code, 0);
  const Finished run = replay(log, {"--policy", "fifo+proportional,srtf+tune", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json runs = Json::parse(run.out)["runs"];
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0]["policy"], "fifo+tune (recorded)");
  EXPECT_EQ(runs[1]["policy"], "fifo+proportional");
  EXPECT_EQ(runs[2]["jobs"], 60);
  EXPECT_LT(runs[0]["avg_jct_s"], runs[1]["avg_jct_s"]);
}

TEST_F(RecordReplay, TheRecordsFiguresAreThoseOfTheRun) {
  const std::string log = folder_.file("log.jsonl");
  const Finished made = record(log, {"--policy", "las+tune", "--json", "--semantics", "synergy"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Json was = Json::parse(made.out)["runs"][0];
  const Finished run = replay(log, {"--policy", "las+tune", "--json"});
  const Json runs = Json::parse(run.out)["runs"];
  for (const char* key : {"avg_jct_s", "p99_jct_s", "cpu_utilisation", "preemptions", "events"}) {
    EXPECT_EQ(was[key], runs[0][key]) << key;
    EXPECT_EQ(was[key], runs[1][key]) << key;
  }
}

TEST_F(RecordReplay, ATraceOfTheArrivalsRunsAsTheFirst) {
  for (const char* format : {"synergy", "orrery"}) {
    const std::string trace = folder_.file(std::string("jobs-") + format + ".csv");
    const Finished made = record(
        trace, {"--policy", "fifo+tune", "--format", format, "--json", "--semantics", "synergy"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const Finished run = replay(trace, {"--policy", "fifo+tune", "--cluster", cluster_, "--json",
                                        "--semantics", "synergy"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    if (std::string(format) == "orrery") continue;  // has no column for sensitivities
    EXPECT_EQ(Json::parse(made.out)["runs"][0]["avg_jct_s"],
              Json::parse(run.out)["runs"][0]["avg_jct_s"]);
  }
}

TEST_F(RecordReplay, OnlyJobsThatArrivedBeforeTheRunStoppedAreRecorded) {
  const std::string trace = folder_.file("jobs.csv");
  ASSERT_EQ(
      record(trace, {"--policy", "fifo+tune", "--format", "synergy", "--window", "0-2"}).exit_code,
      0);
  const std::size_t jobs = lines_of(trace).size();
  EXPECT_GE(jobs, 2U);
  EXPECT_LT(jobs, 60U);
}

TEST_F(RecordReplay, WhatCannotBeDoneIsRefusedWithTheRemedy) {
  const auto complaint = [&](const Finished& run) {
    EXPECT_EQ(run.exit_code, 2) << run.out;
    return run.err;
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string out = folder_.file("x.jsonl");
  has(complaint(record(out, {"--policy", "fifo,las"})), "name one trace, policy and seed");
  has(complaint(record(out, {"--policy", "fifo", "--format", "x"})),
      "--format x: write events, orrery or synergy");
  has(complaint(record(out, {"--policy", "fifo", "--events", out})), "leave out --events");
  has(complaint(run_orrery({"record", "--trace", "philly-like:jobs=5", "--cluster", "4x8",
                            "--policy", "fifo", "--out", out, "--format", "synergy"})),
      "cannot be written");
  has(complaint(replay(folder_.write("t.csv", "0,alexnet,8,23349,1\n"))),
      "name --cluster and --policy");
  const std::string log = recorded("fifo");
  has(complaint(replay(log, {"--semantics", "muri"})), "in the world it was recorded in");
  has(complaint(replay(log, {"--option", "a=b"})), "--policy");
  std::vector<std::string> lines = lines_of(log);
  const std::size_t policy = lines[0].find("\"fifo\"");
  lines[0].replace(policy, 6, "\"unknown\"");
  has(complaint(replay(folder_.write("policy.jsonl", joined(lines)))), "no policy 'unknown'");
  lines[0].replace(policy, std::string_view("\"unknown\"").size(), "\"\"");
  has(complaint(replay(folder_.write("none.jsonl", joined(lines)))),
      "does not say under which policy");
}

TEST_F(RecordReplay, JobsThatNoTraceCouldHoldAreRefusedByLine) {
  const std::vector<std::string> good = lines_of(recorded("fifo"));
  const auto complaint = [&](const std::string& from, const std::string& to) {
    std::vector<std::string> lines = good;
    const std::size_t at = lines[1].find(from);
    EXPECT_NE(at, std::string::npos) << lines[1];
    lines[1].replace(at, from.size(), to);
    const Finished run = replay(folder_.write("bad.jsonl", joined(lines)));
    EXPECT_EQ(run.exit_code, 2) << from << to << run.out;
    return run.err;
  };
  EXPECT_NE(complaint("\"gpus\":1", "\"gpus\":0").find("bad.jsonl:2: \"gpus\" is beyond"),
            std::string::npos);
  EXPECT_NE(complaint("\"iteration_s\":0.6", "\"iteration_s\":\"nan\"").find("bad.jsonl:2:"),
            std::string::npos);
  EXPECT_NE(complaint("\"job\":0", "\"job\":7").find("bad.jsonl:2: job 7 comes where job 0"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
