// Machines that are elsewhere are thought to do what simulated ones do.
#include <gtest/gtest.h>

#include <memory>

#include "scheduling/policy/registry.h"
#include "scheduling/scheduler/estimated_machines.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

class Kept final : public EventSink {
 public:
  void write(const Event& event) override {
    events.push_back(event);
    if (event.grant != nullptr) events.back().grant = &grants_.emplace_back(*event.grant);
  }
  std::deque<Event> events;

 private:
  std::deque<Grant> grants_;
};

// Holds the rounds of a run of which it is known when jobs end.
class Estimated {
 public:
  Estimated(const Workload& workload, const Cluster& cluster, const std::string& policy)
      : workload_(workload),
        setup_(std::move(make_policy({.workload = workload, .policy = {.name = policy}})).value()),
        packer_(cluster, workload.names, std::move(setup_.rule)),
        machines_(workload, {}, [this](const Action&) { ++actions_; }),
        scheduler_({workload, cluster, *setup_.policy, packer_, machines_, log_}) {
    machines_.set_trainer(setup_.policy->trainer());
    machines_.report_to(scheduler_);
  }

  void follow(const std::deque<Event>& known) {
    auto next = known.begin();
    Time wake = kNever;
    std::size_t arrives = 0;
    const auto to_end = [&] {
      while (next != known.end() && next->kind != EventKind::Completed) ++next;
      return next == known.end() ? kNever : next->time;
    };
    const auto arrival = [&] {
      return arrives < workload_.jobs.size() ? workload_.jobs[arrives].submitted : kNever;
    };
    for (Time now = std::min(arrival(), to_end()); now != kNever;
         now = std::min({arrival(), to_end(), wake})) {
      machines_.set_time(now);
      for (; to_end() == now; ++next) {
        machines_.leave(next->job);
        scheduler_.ended(next->job, EventKind::Completed, 0, now);
      }
      while (arrival() <= now) scheduler_.submit(workload_.jobs[arrives++], now);
      wake = scheduler_.hold_round(now);
      machines_.settle();
    }
  }

  // What a rebuilt estimate says of the running jobs, in the place of the first.
  void expect_the_same_rebuilt(Time now) {
    EstimatedMachines rebuilt(workload_, {}, [](const Action&) {});
    rebuilt.set_trainer(setup_.policy->trainer());
    rebuilt.report_to(scheduler_);
    rebuilt.recover(now);
    machines_.set_time(now);
    for (const JobId job : scheduler_.state().running()) {
      const bool alone = scheduler_.state().job(job).held.sharing == Sharing::Exclusive;
      if (!alone) continue;
      EXPECT_EQ(rebuilt.work_left(job), machines_.work_left(job)) << index(job);
    }
  }

  const std::deque<Event>& events() const { return log_.events; }
  std::size_t actions() const { return actions_; }
  EstimatedMachines& machines() { return machines_; }
  Scheduler& scheduler() { return scheduler_; }

 private:
  const Workload& workload_;
  PolicySetup setup_;
  Packer packer_;
  Kept log_;
  EstimatedMachines machines_;
  Scheduler scheduler_;
  std::size_t actions_ = 0;
};

void expect_equal(const std::deque<Event>& known, const std::deque<Event>& ours) {
  ASSERT_EQ(known.size(), ours.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    ASSERT_EQ(known[i].kind, ours[i].kind) << "event " << i;
    ASSERT_EQ(known[i].job, ours[i].job) << "event " << i;
    ASSERT_EQ(known[i].time, ours[i].time) << "event " << i;
    ASSERT_EQ(known[i].ready, ours[i].ready) << "event " << i;
    ASSERT_EQ(known[i].work_left, ours[i].work_left) << "event " << i;
    if (known[i].grant == nullptr) continue;
    ASSERT_EQ(*known[i].grant, *ours[i].grant) << "event " << i;
  }
}

TEST(Estimates, AreToTheBitWhatSimulatedMachinesDo) {
  for (const PolicyInfo& info : policies()) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(std::string(info.name) + " seed " + std::to_string(seed));
      Random random(seed);
      const Cluster cluster = random_cluster(random);
      Workload workload = random_workload(random, cluster, 20);
      add_curves_and_deadlines(random, workload);
      SimulationSetup setup;
      setup.workload = &workload;
      setup.cluster = &cluster;
      setup.run.policy.name = info.name;
      Kept known;
      ASSERT_TRUE(simulate(setup, known).ok());
      Estimated estimated(workload, cluster, setup.run.policy.name);
      estimated.follow(known.events);
      expect_equal(known.events, estimated.events());
      if (HasFatalFailure()) return;
      const auto acts = std::ranges::count_if(known.events, [](const Event& event) {
        return event.kind >= EventKind::Started && event.kind <= EventKind::Paused;
      });
      EXPECT_EQ(estimated.actions(), static_cast<std::size_t>(acts));
    }
  }
}

TEST(Estimates, ComeOutTheSameFromTheLogAlone) {
  Random random(3);
  const Cluster cluster = random_cluster(random);
  const Workload workload = random_workload(random, cluster, 20);
  Estimated estimated(workload, cluster, "srtf");
  estimated.follow({});  // no job ever ends
  ASSERT_FALSE(estimated.scheduler().state().running().empty());
  estimated.expect_the_same_rebuilt(Time(std::chrono::hours(2)));
}

TEST(Estimates, AMeasurementPutsThemRight) {
  Random random(3);
  const Cluster cluster = random_cluster(random);
  const Workload workload = random_workload(random, cluster, 20);
  Estimated estimated(workload, cluster, "fifo");
  estimated.follow({});
  const JobId job = estimated.scheduler().state().running().front();
  const Job& state = estimated.scheduler().state().job(job);
  const Time then = state.ready + std::chrono::seconds(1);
  estimated.machines().measured(job, 1e6, then);
  estimated.machines().set_time(then);
  EXPECT_EQ(estimated.machines().work_left(job), 1e6);
  const double each_s = state.spec->iteration_s;
  estimated.machines().set_time(then + from_seconds(10 * each_s));
  EXPECT_NEAR(estimated.machines().work_left(job), 1e6 - 10, 0.01);
  estimated.machines().measured(job, 5, then - std::chrono::seconds(1));
  EXPECT_GT(estimated.machines().work_left(job), 5) << "what is known of later stands";
}

}  // namespace
}  // namespace orrery
