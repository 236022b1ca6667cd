#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "system/process.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kSweep = R"(
trace = "philly-like:jobs=150,gpus=16"
cluster = "4x4"
[axes]
policy = ["fifo", "srtf", "las"]
load = [0.6, 0.9]
seed = { from = 1, to = 10 }
)";

class SweepProgram : public testing::Test {
 protected:
  Words words(const std::string& out, const Words& more = {}) const {
    Words all = {"sweep", file_, "--out", folder_.file(out), "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string tables(const std::string& out) const {
    std::string all;
    for (const char* name : {"runs.csv", "jobs.csv", "summary.csv"}) {
      all += file_text(folder_.file(out + "/" + name));
    }
    return all;
  }

  // Kills it as soon as its journal has this size. True if it was still at work.
  bool kill_at(const std::string& out, std::uintmax_t size, const Words& more) const {
    const Words all = orrery_words(words(out, more));
    std::vector<char*> arguments;
    for (const std::string& word : all) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(STDOUT_FILENO);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    const fs::path journal = folder_.file(out + "/sweep.journal");
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) {
      std::error_code absent;
      const std::uintmax_t written = fs::file_size(journal, absent);
      if (absent || written < size) {
        ::sched_yield();
        continue;
      }
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    return WIFSIGNALED(status);
  }

  const TestFolder folder_;
  const std::string file_ = folder_.write("s.toml", kSweep);
};

TEST_F(SweepProgram, KilledAtAnyPlaceItGoesOnToTheSameBytes) {
  const Finished whole = run_orrery(words("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  const std::string expected = tables("whole");
  const std::uintmax_t size = fs::file_size(folder_.file("whole/sweep.journal"));
  int killed = 0;
  for (const std::uintmax_t part : {0U, 10U, 45U, 80U}) {
    const std::string out = "killed-at-" + std::to_string(part);
    killed += kill_at(out, size * part / 100, {});
    killed += kill_at(out, size * (part + 15) / 100, {"--resume"});
    const Finished resumed = run_orrery(words(out, {"--resume"}));
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    EXPECT_TRUE(tables(out) == expected) << out;
  }
  EXPECT_GT(killed, 0);
}

TEST_F(SweepProgram, InterruptedItEndsCleanlyAndSaysHowToGoOn) {
  folder_.write("s.toml", R"(
trace = "philly-like:jobs=20000,gpus=64,load=0.9"
cluster = "8x8"
policy = "las"
[axes]
seed = { from = 1, to = 2000 }
)");
  Words all = {"sweep", file_, "--out", folder_.file("out")};
  const Finished run = run_orrery(all, {.interrupt_at = "runs: "});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("of 2000 runs are done; go on with: orrery sweep " + file_ + " --out " +
                         folder_.file("out") + " --resume"),
            std::string::npos)
      << run.err;
  EXPECT_TRUE(fs::exists(folder_.file("out/runs.csv")));
}

TEST_F(SweepProgram, ADifferentFileIsRefused) {
  ASSERT_EQ(run_orrery(words("out")).exit_code, 0);
  std::string changed = kSweep;
  folder_.write("s.toml", changed.replace(changed.find("0.6"), 3, "0.7"));
  const Finished run = run_orrery(words("out", {"--resume"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("holds another sweep: there 'run 0:"), std::string::npos) << run.err;
}

TEST_F(SweepProgram, AFullDiskIsNamedAndCostsNoRun) {
  fs::create_directories(folder_.file("out"));
  fs::create_symlink("/dev/full", folder_.file("out/jobs.csv"));
  const Finished run = run_orrery(words("out"));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("out/jobs.csv: cannot be written: No space left on device"),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find("60 of 60 runs are done; go on with: "), std::string::npos) << run.err;
  fs::remove(folder_.file("out/jobs.csv"));
  const Finished again = run_orrery({"sweep", file_, "--out", folder_.file("out"), "--resume"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.err.find("60 of 60 runs are done"), std::string::npos) << again.err;
}

TEST_F(SweepProgram, EachJobOfAnyRunGetsARow) {
  const std::string csv = folder_.file("jobs.csv");
  const Finished run = run_orrery({"compare", "--trace", "philly-like:jobs=20,gpus=8", "--trace",
                                   "philly-like:jobs=10,gpus=16", "--cluster", "1x8", "--cluster",
                                   "2x8", "--policy", "fifo,las", "--jobs-csv", csv, "--csv"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string text = file_text(csv);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 2 * 20 + 2 * 10);
  EXPECT_TRUE(text.starts_with("trace,policy,job,user,model,gpus,")) << text.substr(0, 80);
  EXPECT_NE(run.out.find("orrery,2x8,16,10,10,"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace orrery
