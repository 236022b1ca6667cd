#include <algorithm>
#include <fstream>
#include <random>

#include "system/live.h"
#include "system/relay.h"

namespace orrery {
namespace {

class LiveAgents : public LiveTest {
 protected:
  // The jobs of a lost node go elsewhere as soon as that is safe.
  std::unique_ptr<Background> start() {
    return serve({"--lease", lease_, "--node-timeout", lease_});
  }
  std::unique_ptr<Background> node_agent(const std::string& name, const std::string& server = "") {
    return agent(name, {"--gpus", "2"}, server);
  }
  bool is_up(const std::string& name) {
    const auto found = node(name);
    return found && found->state == "up";
  }
  JobNumber submit(const JobRequest& request) {
    const auto answer = RpcClient(admin()).submit({.job = request, .key = request.name});
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? answer.value().first : 0;
  }
  // A job that runs until it is let go.
  JobRequest patient_job(const std::string& name) {
    return careful_job(name, "until [ -e " + file("go") + " ]; do sleep 0.05; done");
  }
  void let_go() { std::ofstream(file("go")) << "\n"; }
  bool runs_on(JobNumber id, const std::string& name, std::int64_t epoch) {
    const auto found = job(id);
    return found && found->state == JobState::Running && found->epoch == epoch &&
           found->nodes == std::vector{name} &&
           std::ranges::count(ran(), std::to_string(id) + " " + std::to_string(epoch)) == 1;
  }
  double silent_s(const std::string& name) {
    const auto answer = RpcClient(admin()).status({.finished = false, .limit = 1});
    const auto found = node(name);
    return answer.ok() && found ? answer.value().now_s - found->seen_s : 0;
  }

  // One node, one job on it, and a second node that could take it.
  void begin_behind_relay() {
    scheduler_ = start();
    relay_ = std::make_unique<Relay>(address());
    first_ = node_agent("first", relay_->address());
    ASSERT_TRUE(eventually([&] { return is_up("first"); })) << first_->errors();
    job_ = submit(patient_job("patient"));
    ASSERT_TRUE(eventually([&] { return runs_on(job_, "first", 1); }));
    second_ = node_agent("second");
    ASSERT_TRUE(eventually([&] { return is_up("second"); })) << second_->errors();
  }
  void expect_lost_and_back(bool to_scheduler, bool from_scheduler) {
    begin_behind_relay();
    relay_->cut(to_scheduler, from_scheduler);
    EXPECT_TRUE(eventually([&] { return runs_on(job_, "second", 2); }));
    EXPECT_EQ(clashes(), "");
    relay_->mend();
    EXPECT_TRUE(eventually([&] { return is_up("first"); })) << first_->errors();
    EXPECT_TRUE(runs_on(job_, "second", 2)) << "a node that comes back takes nothing away";
    let_go();
    expect_all_done_once();
    EXPECT_EQ(ran().size(), 2u);
  }

  std::string lease_ = "2s";
  std::unique_ptr<Background> scheduler_;
  std::unique_ptr<Background> first_;
  std::unique_ptr<Background> second_;
  std::unique_ptr<Relay> relay_;
  JobNumber job_ = 0;
};

TEST_F(LiveAgents, KilledAtRandomWithTheSchedulerOrWithoutNoJobRunsTwiceAtATime) {
  std::mt19937 random(7);
  const int all = repetitions(9, 90);
  auto scheduler = start();
  auto first = node_agent("first");
  auto second = node_agent("second");
  int jobs = 0;
  for (int round = 0; round < all && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const std::size_t before = ran().size();
    for (int i = 0; i < 8; ++i) submit(careful_job("j" + std::to_string(jobs++), "sleep 0.05"));
    const std::size_t begun = before + std::uniform_int_distribution<std::size_t>(0, 7)(random);
    EXPECT_TRUE(eventually([&] { return ran().size() >= begun; }));
    const bool agent_dies = round % 3 != 1;
    const bool scheduler_dies = round % 3 != 0;
    if (scheduler_dies) scheduler->kill();
    if (agent_dies) first->kill();
    if (scheduler_dies) scheduler = start();
    if (agent_dies) first = node_agent("first");
  }
  expect_all_done_once();
  EXPECT_EQ(status().jobs.size(), static_cast<std::size_t>(jobs));
}

TEST_F(LiveAgents, TheJobsOfAnAgentThatStaysAwayEndAndGoOnElsewhere) {
  scheduler_ = start();
  first_ = node_agent("first");
  ASSERT_TRUE(eventually([&] { return is_up("first"); }));
  const JobNumber id = submit(patient_job("patient"));
  ASSERT_TRUE(eventually([&] { return runs_on(id, "first", 1); }));
  second_ = node_agent("second");
  first_->kill();
  EXPECT_TRUE(eventually([&] { return runs_on(id, "second", 2); }));
  let_go();
  expect_all_done_once();
  const auto lost = node("first");
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->state, "lost");
}

TEST_F(LiveAgents, AJobOutlivesANetworkThatIsCutForLessThanALease) {
  lease_ = "9s";
  begin_behind_relay();
  relay_->cut(true, true);
  // A node is heard of every third of its lease.
  EXPECT_TRUE(eventually([&] { return silent_s("first") > 4; }));
  relay_->mend();
  EXPECT_TRUE(eventually([&] { return silent_s("first") < 1; }));
  EXPECT_TRUE(runs_on(job_, "first", 1));
  let_go();
  expect_all_done_once();
  EXPECT_EQ(ran().size(), 1u);
}

TEST_F(LiveAgents, ASchedulerThatIsAwayForManyLeasesStopsNoJob) {
  const auto serve_patiently = [&] { return serve({"--lease", "1s"}); };
  scheduler_ = serve_patiently();
  first_ = node_agent("first");
  ASSERT_TRUE(eventually([&] { return is_up("first"); })) << first_->errors();
  job_ = submit(patient_job("patient"));
  ASSERT_TRUE(eventually([&] { return runs_on(job_, "first", 1); }));
  const std::string silence = "the scheduler does not answer";
  std::size_t read = 0;
  for (const bool killed : {true, false}) {
    killed ? scheduler_->kill() : static_cast<void>(scheduler_->stop());
    ASSERT_TRUE(eventually([&] {
      const std::size_t found = first_->errors().find(silence, read);
      if (found == std::string::npos) return false;
      read = found + silence.size();
      return true;
    }));
    scheduler_ = serve_patiently();
    ASSERT_TRUE(eventually([&] { return is_up("first"); }));
    EXPECT_TRUE(runs_on(job_, "first", 1));
  }
  let_go();
  expect_all_done_once();
  EXPECT_EQ(ran().size(), 1u);
}

TEST_F(LiveAgents, CutOffForLongerItsJobsEndBeforeTheyBeginElsewhere) {
  expect_lost_and_back(true, true);
}

TEST_F(LiveAgents, AnAgentThatHearsAndIsNotHeardIsLostToo) { expect_lost_and_back(true, false); }

TEST_F(LiveAgents, AnAgentThatIsHeardAndHearsNothingLetsNothingRunTwice) {
  begin_behind_relay();
  relay_->cut(false, true);
  // It stops its job for want of a lease and says so, and the scheduler need not wait for it.
  EXPECT_TRUE(eventually([&] {
    const auto found = job(job_);
    return found && found->epoch >= 2;
  }));
  relay_->mend();
  let_go();
  expect_all_done_once();
}

}  // namespace
}  // namespace orrery
