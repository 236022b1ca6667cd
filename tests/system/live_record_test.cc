// What a live scheduler keeps outlives it: its port, and its jobs as a trace.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "system/live.h"

namespace orrery {
namespace {

class LiveRecord : public LiveTest {
 protected:
  static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  static std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    return fields;
  }
  void run_jobs() {
    const Words job = {"submit", "--gpus", "2", "--time", "1h", "--profile", "res18", "--"};
    for (const Words& command : {Words{"sleep", "2"}, Words{"false"}}) {
      Words words = job;
      words.insert(words.end(), command.begin(), command.end());
      ASSERT_EQ(ask(words).exit_code, 0);
    }
    expect_idle();
    ASSERT_EQ(ask({"submit", "--gpus", "9", "--time", "128s", "--profile", "res18", "--", "true"})
                  .exit_code,
              0);
  }
};

TEST_F(LiveRecord, JobsBecomeSynergysTraceAsLongAsTheyTook) {
  const auto scheduler = serve({"--local", "--gpus", "2"});
  run_jobs();
  const std::string trace = file("trace.csv");
  const Finished run = ask({"record", "--format", "synergy", "-o", trace});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("3 jobs"), std::string::npos) << run.out;
  const std::vector<std::string> lines = lines_of(trace);
  ASSERT_EQ(lines.size(), 3u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string> fields = fields_of(lines[i]);
    ASSERT_EQ(fields.size(), 5u) << lines[i];
    EXPECT_EQ(fields[0], std::to_string(i + 1));
    EXPECT_EQ(fields[1], "res18");
    EXPECT_EQ(fields[4], i < 2 ? "2" : "9");
  }
  // An iteration of that model takes 0.64 s.
  const double slept = std::stod(fields_of(lines[0])[3]);
  EXPECT_GE(slept, std::floor(2 / 0.64));
  EXPECT_LT(slept, 3600 / 0.64 / 2) << "what it took, and not what was said";
  EXPECT_EQ(fields_of(lines[2])[3], "200") << "a job that has not run is as long as was said";
  const Finished again = run_orrery({"simulate", "--trace", trace, "--trace-format", "synergy",
                                     "--cluster", "2x8", "--policy", "fifo", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("\"completed\":3"), std::string::npos) << again.out;
}

TEST_F(LiveRecord, AnyJobsBecomeATraceOfOurs) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  ASSERT_EQ(ask({"submit", "--", "true"}).exit_code, 0);
  expect_idle();
  const std::string refused = file("no.csv");
  const Finished synergy = ask({"record", "--format", "synergy", "-o", refused});
  EXPECT_EQ(synergy.exit_code, 2);
  EXPECT_NE(synergy.err.find("job 1"), std::string::npos) << synergy.err;
  EXPECT_NE(synergy.err.find("--format orrery"), std::string::npos) << synergy.err;
  EXPECT_FALSE(std::filesystem::exists(refused));
  const std::string trace = file("trace.csv");
  ASSERT_EQ(ask({"record", "-o", trace}).exit_code, 0);
  const Finished again =
      run_orrery({"simulate", "--trace", trace, "--cluster", "1x1", "--policy", "fifo", "--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("\"completed\":1"), std::string::npos) << again.out;
  EXPECT_EQ(ask({"record", "--format", "prose", "-o", trace}).exit_code, 2);
}

TEST_F(LiveRecord, ALiveLogRunsAgainUnderOtherPolicies) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  ASSERT_EQ(ask({"submit", "--time", "60s", "--", "true"}).exit_code, 0);
  expect_idle();
  const std::string log = file("run.jsonl");
  ASSERT_EQ(ask({"record", "-o", log}).exit_code, 0);
  const Finished same = run_orrery({"replay", log});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  const Finished others = run_orrery({"replay", log, "--policy", "las,srtf", "--json"});
  ASSERT_EQ(others.exit_code, 0) << others.err;
  EXPECT_NE(others.out.find("\"las\""), std::string::npos) << others.out;
  EXPECT_NE(others.out.find("\"srtf\""), std::string::npos) << others.out;
  EXPECT_NE(others.out.find("\"completed\":1"), std::string::npos) << others.out;
}

TEST_F(LiveRecord, ASchedulerThatStartsAgainIsFoundWhereItWas) {
  const auto start = [&] {
    auto process =
        std::make_unique<Background>(Words{"serve", "--state", state()}, file("serve.err"));
    EXPECT_TRUE(eventually(
        [&] { return std::filesystem::exists(state() + "/address") || process->end(); }));
    return process;
  };
  auto scheduler = start();
  const std::string before = address();
  EXPECT_EQ(scheduler->stop(), 0);
  scheduler = start();
  EXPECT_EQ(address(), before);
}

}  // namespace
}  // namespace orrery
