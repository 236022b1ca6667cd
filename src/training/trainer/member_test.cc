#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "training/lease/lease.h"
#include "training/trainer/lease/head_place.h"
#include "training/trainer/started_run.h"
#include "training/trainer/test_run.h"

namespace orrery {
namespace {

using nlohmann::json;

constexpr int kBatch = 64;

// A run whose machines are members of this test. Each is a process with processes of its own, which
// all go when it is killed.
class MemberRun {
 public:
  explicit MemberRun(const std::vector<std::string>& more, const std::string& shards = "1") {
    std::vector<std::string> arguments = {
        "run",    "--members", "--dir",  folder_.run(), "--model",
        "linear", "--data",    "line",   "--batch",     std::to_string(kBatch),
        "--rate", "0.01",      "--mode", "asgd",        "--workers",
        "3",      "--shards",  shards,   "--silence",   "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const TestRun prepared = train(arguments, folder_.run());
    EXPECT_EQ(prepared.exit_code, 0) << prepared.errors;
  }

  const std::string& path() const { return path_; }
  void add(const std::string& name, const std::string& role, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"member", path_, "--name",     name,
                                          "--role", role,  "--patience", "1.5"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    members_[name] = std::make_unique<StartedRun>(arguments, path_);
  }
  void add_all() {
    add("shard-0", "shard");
    add("evaluator-0", "evaluator");
    add("chief-0", "chief", {"--may-lead"});
    add("worker-0", "worker", {"--may-lead"});
    add("worker-1", "worker", {"--may-lead"});
  }
  void kill(const std::string& name, int signal = SIGKILL) {
    ::kill(members_.at(name)->pid(), signal);
  }
  void wait(const std::string& name) { members_.at(name)->wait(); }

  json progress() const {
    auto text = read_file(path_ + "/progress.json");
    return text.ok() ? json::parse(text.value(), nullptr, false) : json::object();
  }
  std::int64_t gradients() const { return progress().value("gradients", std::int64_t{0}); }
  std::int64_t epoch() const { return progress().value("epoch", std::int64_t{0}); }
  bool trains_in(std::int64_t epoch, std::int64_t gradients_more = 50) {
    const std::int64_t before = gradients();
    return wait_until([&] {
      return this->epoch() >= epoch && progress().value("training", false) &&
             gradients() >= before + gradients_more;
    });
  }
  void order(const json& orders) {
    EXPECT_TRUE(write_file_atomically(path_ + "/orders.json", orders.dump()).ok());
  }
  bool logged(const std::string& what) const {
    auto text = read_file(path_ + "/processes.csv");
    return text.ok() && text.value().find(what) != std::string::npos;
  }
  json stop() {
    order({{"stop", true}});
    EXPECT_TRUE(wait_until([this] { return run_is_over(path_); })) << progress().dump();
    auto text = read_file(run_result_path(path_));
    return text.ok() ? json::parse(text.value(), nullptr, false) : json::object();
  }
  // Every position of the sample order up to the last one was used once, or waits to be used. The
  // shards have counted what went into the parameters, all heads together; so has the Conductor.
  void expect_each_sample_once() const {
    const Checkpoint last = last_checkpoint(path_);
    const ConductorState& state = last.conductor;
    std::int64_t unused = 0;
    for (const Samples& samples : state.again) unused += samples.count;
    EXPECT_EQ(state.samples_done, state.next_sample - unused);
    EXPECT_GT(state.samples_done, 0);
    EXPECT_NEAR(last.optimizer_batches * kBatch, static_cast<double>(state.samples_done), 1e-3);
    EXPECT_EQ(state.version, state.gradients_done) << "in asgd each gradient is an update";
  }

 private:
  TestFolder folder_;
  const std::string path_ = folder_.run();
  std::map<std::string, std::unique_ptr<StartedRun>> members_{};
};

const std::vector<std::string> kEndless = {"--time-limit", "300s"};

TEST(Member, AMemberTakesOverFromAChiefThatIsKilledAndNothingRollsBack) {
  MemberRun run(kEndless, "2");
  run.add_all();
  run.add("shard-1", "shard", {"--index", "1"});
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  run.kill("chief-0");
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  EXPECT_TRUE(run.logged("goes on from version"));
  const json result = run.stop();
  EXPECT_EQ(result.value("ended", ""), "it was asked to stop") << result.dump();
  run.expect_each_sample_once();
  EXPECT_EQ(LeaseFile(run.path()).read().value().epoch, 2);
}

TEST(Member, AChiefWithANoticeHandsOverAtOnce) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  run.kill("chief-0", SIGTERM);
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  run.stop();
  run.expect_each_sample_once();
}

// As when a machine is shut down: all of its processes get the signal, not the member alone.
TEST(Member, AHeadThatIsAskedToEndDoesNotEndTheRun) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  kill(read_head_place(run.path()).value().pid, SIGTERM);
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  EXPECT_FALSE(run_is_over(run.path()));
  EXPECT_TRUE(run.logged("goes on from version"));
  run.stop();
  run.expect_each_sample_once();
}

TEST(Member, APlaceThatAnOldHeadWritesLateIsPutRight) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  run.kill("chief-0");
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  const HeadPlace old{.host = "127.0.0.1", .port = 1, .pid = 1, .epoch = 1};
  ASSERT_TRUE(write_file_atomically(run.path() + "/head", head_place_text(old)).ok());
  EXPECT_TRUE(wait_until([&run] { return read_head_place(run.path()).value().epoch == 2; }));
  run.add("worker-2", "worker");
  EXPECT_TRUE(wait_until([&run] { return run.progress().value("workers", 0) == 3; }));
  run.stop();
}

// The head of the chief hangs, and goes on after another member has taken over.
TEST(Member, AnOldChiefThatComesBackWritesNothing) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  const pid_t old = read_head_place(run.path()).value().pid;
  kill(old, SIGSTOP);
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  const std::int64_t before = run.gradients();
  kill(old, SIGCONT);
  EXPECT_TRUE(wait_until([old] { return !process_is_there(old); }));
  ASSERT_TRUE(run.trains_in(2));
  EXPECT_GT(run.gradients(), before);
  EXPECT_EQ(read_head_place(run.path()).value().epoch, 2);
  run.stop();
  run.expect_each_sample_once();
}

TEST(Member, ALostShardMeansTheNewestCheckpoint) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  run.order({{"save", 1}});
  ASSERT_TRUE(wait_until([&run] { return newest_checkpoint(run.path()).ok(); }));
  const ParameterVersion saved = last_checkpoint(run.path()).conductor.version;
  run.kill("shard-0");
  run.add("shard-1", "shard", {"--index", "0"});
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  EXPECT_TRUE(run.logged("starts from the checkpoint of version " + std::to_string(saved)));
  run.stop();
  run.expect_each_sample_once();
}

TEST(Member, AllWorkersMayBeGoneForAWhile) {
  MemberRun run(kEndless);
  run.add_all();
  ASSERT_TRUE(run.trains_in(1)) << run.progress().dump();
  for (const char* const name : {"chief-0", "worker-0", "worker-1"}) run.kill(name);
  run.add("worker-2", "worker", {"--may-lead"});
  ASSERT_TRUE(run.trains_in(2)) << run.progress().dump();
  EXPECT_TRUE(run.logged("goes on from version"));
  run.stop();
  run.expect_each_sample_once();
}

TEST(Member, TheRateFollowsTheNumberOfWorkers) {
  MemberRun run({"--time-limit", "300s", "--rate-scaling", "inverse-sqrt"});
  run.add_all();
  ASSERT_TRUE(wait_until([&run] { return run.progress().value("workers", 0) == 3; }));
  EXPECT_NEAR(run.progress().value("rate", 0.0), 0.01 / std::sqrt(3.0), 1e-9);
  run.kill("worker-0");
  run.kill("worker-1");
  ASSERT_TRUE(wait_until([&run] { return run.progress().value("workers", 0) == 1; }));
  EXPECT_NEAR(run.progress().value("rate", 0.0), 0.01, 1e-9);
  run.stop();
  const std::string table = read_file(run.path() + "/membership.csv").value();
  EXPECT_NE(table.find(",1,3,0.57735,"), std::string::npos) << table;
}

TEST(Member, ARunIsPreparedOnce) {
  MemberRun run(kEndless);
  const TestRun again = train({"run", "--members", "--dir", run.path(), "--steps", "5", "--model",
                               "linear", "--data", "line"},
                              run.path());
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("holds a run already"), std::string::npos) << again.errors;
}

TEST(Member, ARunWhoseModelIsUnknownEndsWithTheReason) {
  const TestFolder folder;
  EXPECT_EQ(train({"run", "--members", "--dir", folder.run(), "--steps", "5", "--model", "linear",
                   "--data", "nothing"},
                  folder.run())
                .exit_code,
            0);
  EXPECT_EQ(
      train({"member", folder.run(), "--name", "x", "--role", "boss"}, folder.run()).exit_code, 2);
}

}  // namespace
}  // namespace orrery
