#include "scheduling/scheduler/plan_laws.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace orrery {
namespace {

constexpr JobId kFirst{0};
constexpr JobId kSecond{1};
constexpr JobId kThird{2};

// Two nodes of 4 GPUs, 8 CPUs and 8 bytes. The first job runs on the first two GPUs of the first
// node; two others wait.
class PlanLawsTest : public testing::Test {
 protected:
  PlanLawsTest() {
    cluster_.nodes.resize(2);
    for (Node& node : cluster_.nodes) {
      node.gpus = 4;
      node.cpu_milli = 8000;
      node.memory_bytes = 8;
    }
    for (const JobId id : {kFirst, kSecond, kThird}) {
      JobSpec& spec = workload_.jobs.emplace_back();
      spec.id = id;
      spec.gpus = 2;
    }
    for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].spec = &workload_.jobs[i];
    jobs_[0].state = JobState::Running;
    jobs_[0].held.job = kFirst;
    jobs_[0].held.devices = {{NodeId{0}, 0b0011}};
    on_nodes_[0] = {kFirst};
  }

  Grant& grant(JobId job, NodeId node, std::uint64_t gpus) {
    Grant& grant = plan_.grant(job);
    grant.devices = {{node, gpus}};
    return grant;
  }
  void share(JobId job, NodeId node, std::uint64_t gpus, int position) {
    Grant& shared = grant(job, node, gpus);
    shared.sharing = Sharing::Interleaved;
    shared.group = GroupId{1};
    shared.position = position;
  }

  View view() {
    View view;
    view.workload = &workload_;
    view.cluster = &cluster_;
    view.jobs = list(jobs_);
    view.on_nodes = on_nodes_;
    return view;
  }
  // Checks the plan, carries it out on copies, and checks what came of it. Answers the jobs whose
  // grants change what they hold.
  std::vector<JobId> check() {
    Ledger ledger(cluster_, workload_.names);
    ledger.take(jobs_[0].held.devices, {.gpus = 2});
    auto jobs = jobs_;
    auto on_nodes = on_nodes_;
    const auto stop = [&](JobId id) {
      Job& job = jobs[index(id)];
      if (job.state != JobState::Running) return;
      job.state = JobState::Paused;
      ledger.release(job.held.devices, shape_of(job.held));
      for (const NodeShare& share : job.held.devices) std::erase(on_nodes[index(share.node)], id);
    };
    const auto changed = laws_.check(view(), ledger, plan_);
    for (const Plan::Verdict& verdict : plan_.stops()) stop(verdict.job);
    std::vector<JobId> ids;
    for (const Grant* grant : changed) {
      ids.push_back(grant->job);
      stop(grant->job);
      jobs[index(grant->job)].held = *grant;
      ledger.take(grant->devices, shape_of(*grant));
      for (const NodeShare& share : grant->devices) {
        on_nodes[index(share.node)].push_back(grant->job);
      }
    }
    laws_.check_carried_out({cluster_, list(jobs), on_nodes}, ledger);
    plan_.clear();
    return ids;
  }
  JobList list(const std::array<Job, 3>& jobs) {
    listed_ = {&jobs[0], &jobs[1], &jobs[2]};
    return JobList(listed_);
  }
  static Shape shape_of(const Grant& grant) {
    return {.gpus = gpu_count(grant.devices),
            .cpu_milli = grant.cpu_milli,
            .memory_bytes = grant.memory_bytes};
  }

  Workload workload_;
  Cluster cluster_;
  std::array<Job, 3> jobs_;
  std::array<const Job*, 3> listed_{};
  std::array<std::vector<JobId>, 2> on_nodes_;
  Plan plan_;
  PlanLaws laws_;
};

using PlanLawsDeathTest = PlanLawsTest;

TEST_F(PlanLawsTest, AcceptsPlansThatKeepThem) {
  grant(kSecond, NodeId{0}, 0b1100);
  check();
  plan_.stop(kFirst, {});
  grant(kSecond, NodeId{0}, 0b0011);  // what the stopped job held
  check();
  plan_.stop(kFirst, {});
  grant(kFirst, NodeId{1}, 0b0011);  // a move
  grant(kSecond, NodeId{0}, 0b0011);
  check();
  share(kSecond, NodeId{1}, 0b0011, 0);
  share(kThird, NodeId{1}, 0b0011, 1);
  check();
  grant(kSecond, NodeId{1}, 0b0011).sharing = Sharing::Guaranteed;
  grant(kThird, NodeId{1}, 0b0001).sharing = Sharing::Opportunistic;
  check();
}

TEST_F(PlanLawsTest, AnswersTheGrantsThatChangeWhatAJobHolds) {
  const auto keep = [this] { grant(kFirst, NodeId{0}, 0b0011); };
  keep();
  EXPECT_EQ(check(), std::vector<JobId>{});
  keep();
  grant(kSecond, NodeId{0}, 0b1100);
  EXPECT_EQ(check(), std::vector{kSecond});
  grant(kFirst, NodeId{1}, 0b0011);
  EXPECT_EQ(check(), std::vector{kFirst}) << "it moves";
  plan_.stop(kFirst, {});
  keep();
  EXPECT_EQ(check(), std::vector{kFirst}) << "it is stopped and resumed";
  grant(kThird, NodeId{1}, 0b1000);
  EXPECT_EQ(check(), std::vector{kThird});
  EXPECT_EQ(check(), std::vector<JobId>{});
}

TEST_F(PlanLawsDeathTest, NoDeviceOfAJobThatIsNamedAgainIsGiven) {
  grant(kFirst, NodeId{0}, 0b0011);
  grant(kSecond, NodeId{0}, 0b0001);
  EXPECT_DEATH(check(), "a device is given to one job");
}

TEST_F(PlanLawsDeathTest, NoDeviceIsGivenTwice) {
  grant(kSecond, NodeId{0}, 0b0110);  // the first job has one of them
  EXPECT_DEATH(check(), "a device is given to one job");
  plan_.clear();
  grant(kSecond, NodeId{1}, 0b0011);
  grant(kThird, NodeId{1}, 0b0010);
  EXPECT_DEATH(check(), "a device is given to one job");
}

TEST_F(PlanLawsDeathTest, OnlyMembersOfOneGroupAtDifferentPositionsShare) {
  share(kSecond, NodeId{1}, 0b0011, 1);
  share(kThird, NodeId{1}, 0b0011, 1);
  EXPECT_DEATH(check(), "members of a group have different positions");
  plan_.clear();
  share(kSecond, NodeId{1}, 0b0011, 0);
  share(kThird, NodeId{1}, 0b0011, 1);
  plan_.grants()[1].group = GroupId{2};
  EXPECT_DEATH(check(), "a device is given to one job");
}

TEST_F(PlanLawsDeathTest, NoJobIsNamedTwice) {
  grant(kSecond, NodeId{0}, 0b0100);
  grant(kSecond, NodeId{0}, 0b1000);
  EXPECT_DEATH(check(), "a plan grants a job devices once");
  plan_.clear();
  plan_.stop(kFirst, {});
  plan_.stop(kFirst, {});
  EXPECT_DEATH(check(), "a plan stops a job once");
  plan_.clear();
  grant(kSecond, NodeId{1}, 0b0001);
  plan_.reject(kSecond, {});
  EXPECT_DEATH(check(), "a job is rejected once");
}

TEST_F(PlanLawsDeathTest, NothingGrantedIsNegativeOrMissing) {
  grant(kSecond, NodeId{1}, 0b0001).cpu_milli = -1;
  EXPECT_DEATH(check(), "nothing negative");
  plan_.clear();
  grant(kSecond, NodeId{1}, 0b0001).memory_bytes = -1;
  EXPECT_DEATH(check(), "nothing negative");
  plan_.clear();
  plan_.grant(kSecond);
  EXPECT_DEATH(check(), "a grant names devices");
  plan_.clear();
  grant(kSecond, NodeId{1}, 0);
  EXPECT_DEATH(check(), "a grant names devices on nodes that exist");
}

TEST_F(PlanLawsDeathTest, DevicesExistOnOpenNodes) {
  grant(kSecond, NodeId{1}, 0b10000);
  EXPECT_DEATH(check(), "devices that are granted exist");
  plan_.clear();
  grant(kSecond, NodeId{2}, 0b1);
  EXPECT_DEATH(check(), "a grant names devices on nodes that exist");
  plan_.clear();
  cluster_.nodes[1].open = false;
  grant(kSecond, NodeId{1}, 0b1);
  EXPECT_DEATH(check(), "on open nodes");
  plan_.clear();
  grant(kSecond, NodeId{0}, 0b0100).devices.push_back({NodeId{0}, 0b1000});
  EXPECT_DEATH(check(), "a grant names a node once");
}

TEST_F(PlanLawsDeathTest, JobsThatHaveEndedOrDoNotRunAreLeftAlone) {
  jobs_[1].state = JobState::Done;
  grant(kSecond, NodeId{1}, 0b1);
  EXPECT_DEATH(check(), "a job that has ended is granted nothing");
  plan_.clear();
  plan_.stop(kThird, {});
  EXPECT_DEATH(check(), "a job that is stopped runs");
  plan_.clear();
  plan_.reject(kFirst, {});
  EXPECT_DEATH(check(), "neither runs nor has ended");
}

TEST_F(PlanLawsDeathTest, NodesGiveNoMoreThanTheyHave) {
  grant(kSecond, NodeId{1}, 0b0011).cpu_milli = 8000;
  EXPECT_EQ(check(), std::vector{kSecond});
  grant(kSecond, NodeId{1}, 0b0011).cpu_milli = 9000;
  EXPECT_DEATH(check(), "no more CPUs or memory than it has");
}

}  // namespace
}  // namespace orrery
