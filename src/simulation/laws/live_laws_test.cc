// What every policy must keep on a live cluster: jobs that are not known beforehand, and policies
// and nodes that come and go.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduling/policy/registry.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/live_run.h"
#include "simulation/testing/random_workload.h"
#include "simulation/worlds/world.h"

namespace orrery {
namespace {

std::vector<std::string> our_policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policies()) names.emplace_back(info.name);
  for (const char* variant :
       {"srtf sticky=false", "las sticky=false", "las limits=30s,100s,300s", "las promote=0.5",
        "fifo backfill=false", "gittins delta=60s", "gandiva quantum=2m",
        "muri-l variant=reference", "muri-s matching=none", "elasticflow admission=none",
        "elasticflow scale-up=reference", "chronus early=false", "chronus lease=2m",
        "orrery-deadline second-chance=false"}) {
    names.emplace_back(variant);
  }
  for (const char* order : {"fifo", "srtf", "las", "ftf"}) {
    for (const AllocatorInfo& allocator : allocators()) {
      if (allocator.name == "opt") continue;  // an integer program in every round takes its time
      names.push_back(fmt::format("{}+{}", order, allocator.name));
    }
  }
  return names;
}

// And those that were released otherwise with a simulator.
std::vector<std::string> all_policies() {
  std::vector<std::string> names = our_policies();
  for (std::size_t i = 0; i < worlds().size(); ++i) {
    if (worlds()[i].published == nullptr) continue;
    const std::string_view world = to_string(static_cast<SemanticsKind>(i));
    for (const PublishedPolicy& policy : worlds()[i].published->policies) {
      if (policy.make != nullptr) names.push_back(fmt::format("{} @{}", policy.name, world));
    }
  }
  names.emplace_back("orrery-deadline @elasticflow");  // to which rounds cost time there
  return names;
}

Workload workload_of(Random& random, const Cluster& cluster, int jobs) {
  Workload workload = random_workload(random, cluster, jobs);
  add_curves_and_deadlines(random, workload);
  return workload;
}

class Lines final : public EventSink {
 public:
  void write(const Event& event) override {
    if (event.kind == EventKind::Submitted) said_.emplace_back();
    if (event.kind == EventKind::Queued || event.kind == EventKind::Paused) {
      said_[index(event.job)] = event.reason.code;
    }
    std::string line = fmt::format(
        "{} {} {} #{} ready {} left {:a} {} done {} {}", seconds(event.time), event.sequence,
        to_string(event.kind), index(event.job), seconds(event.ready), event.work_left,
        text(event.reason), seconds(event.promised), seconds(event.finished));
    if (event.grant != nullptr) {
      line +=
          fmt::format(" group {} turn {} cpus {} memory {}", static_cast<int>(event.grant->group),
                      event.grant->position, event.grant->cpu_milli, event.grant->memory_bytes);
      for (const NodeShare& share : event.grant->devices) {
        line += fmt::format(" {}:{:x}", index(share.node), share.gpus);
      }
    }
    lines.push_back(std::move(line));
  }
  // Why it waits, or last did.
  Reason::Code said(JobId job) const { return said_[index(job)]; }

  std::vector<std::string> lines;

 private:
  std::vector<Reason::Code> said_;  // by job
};

TEST(LiveLaws, UnknownJobsAreServedAsKnownOnes) {
  for (const std::string& policy : our_policies()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      Random random(seed);
      const Cluster cluster = random_cluster(random);
      const Workload workload = workload_of(random, cluster, 24);
      Lines known;
      SimulationSetup setup;
      setup.workload = &workload;
      setup.cluster = &cluster;
      setup.run.policy.name = policy.substr(0, policy.find(' '));
      setup.run.policy.options = LiveRun::options_in(policy);
      ASSERT_TRUE(simulate(setup, known).ok());
      Lines grown;
      LiveRun run(workload, cluster, policy, grown);
      while (run.step()) run.hold_round();
      ASSERT_EQ(known.lines, grown.lines) << policy << " seed " << seed;
    }
  }
}

// One that comes between rounds and does what operators, owners and failures do.

class Trouble {
 public:
  Trouble(std::uint64_t seed, std::vector<std::string> names)
      : random_(seed), names_(std::move(names)) {}

  void strike(LiveRun& run) {
    const double what = random_.uniform();
    if (what < 0.1) {
      run.take_over(another());
    } else if (what < 0.16) {
      toggle(run);
    } else if (what < 0.22) {
      hold(run);
    } else if (what < 0.3) {
      release(run);
    } else if (what < 0.33) {
      pause(run);
    } else if (what < 0.36) {
      run.restart(another());
    }
  }

  // What quotas and owners do; no policy takes over.
  void nag(LiveRun& run) {
    const double what = random_.uniform();
    if (what < 0.15) {
      hold(run);
    } else if (what < 0.3) {
      release(run);
    } else if (what < 0.35) {
      pause(run);
    }
  }

  // All nodes are there again.
  void repair(LiveRun& run) {
    for (std::size_t node = 0; node < run.cluster().nodes.size(); ++node) run.set_open(node, true);
    run.take_over(another());
  }
  // No job is on hold any more.
  void end(LiveRun& run) {
    while (!held_.empty()) release(run);
  }

 private:
  const std::string& another() {
    now_ = pick(random_, names_);
    return now_;
  }

  void toggle(LiveRun& run) {
    const auto last = static_cast<std::int64_t>(run.cluster().nodes.size()) - 1;
    const auto node = static_cast<std::size_t>(random_.between(0, last));
    if (!run.cluster().nodes[node].open) {
      run.set_open(node, true);
    } else if (random_.uniform() < 0.5) {
      run.lose(node);
    } else {
      run.set_open(node, false);
    }
    run.take_over(now_.empty() ? another() : now_);
  }

  void hold(LiveRun& run) {
    std::vector<JobId> waiting;
    for (const Job& job : run.scheduler().state().jobs()) {
      const JobId id = job.spec->id;
      const bool waits = job.state == JobState::Pending || job.state == JobState::Paused;
      if (waits && !run.scheduler().is_on_hold(id)) waiting.push_back(id);
    }
    if (waiting.empty()) return;
    held_.push_back(pick(random_, waiting));
    run.hold(held_.back());
  }

  void release(LiveRun& run) {
    if (held_.empty()) return;
    run.release(held_.back());
    held_.pop_back();
  }

  void pause(LiveRun& run) {
    const auto running = run.scheduler().state().running();
    if (running.empty()) return;
    run.pause(pick(random_, std::vector<JobId>(running.begin(), running.end())),
              {.code = Reason::Code::Requested});
  }

  Random random_;
  const std::vector<std::string> names_;
  std::string now_;
  std::vector<JobId> held_;
};

class Both final : public EventSink {
 public:
  Both(EventSink& one, EventSink& other) : one_(one), other_(other) {}
  void write(const Event& event) override {
    one_.write(event);
    other_.write(event);
  }

 private:
  EventSink& one_;
  EventSink& other_;
};

// A job that waits in a policy's sight waits for something that the policy says.
void expect_reasons(LiveRun& run, const Lines& lines) {
  for (const Job& job : run.scheduler().state().jobs()) {
    const JobId id = job.spec->id;
    const bool waits = job.state == JobState::Pending || job.state == JobState::Paused;
    if (!waits || run.scheduler().is_on_hold(id)) continue;
    const Reason::Code said = lines.said(id);
    ASSERT_NE(said, Reason::Code::None) << index(id);
    ASSERT_NE(said, Reason::Code::Quota) << index(id);
    ASSERT_EQ(said == Reason::Code::NotHere, run.fits_nowhere(id)) << index(id);
  }
}

void expect_all_end(std::uint64_t seed, const std::vector<std::string>& names, Lines& lines) {
  Random random(seed);
  const Cluster cluster = random_cluster(random);
  const Workload workload = workload_of(random, cluster, 20);
  LawSink laws({.cluster = &cluster, .workload = &workload, .honest = true, .hosted = true});
  Both sink(laws, lines);
  LiveRun run(workload, cluster, names.front(), sink);
  Trouble trouble(seed, names);
  for (int steps = 0; steps < 300 && run.step(); ++steps) {
    trouble.strike(run);
    run.hold_round();
    ASSERT_EQ(laws.broken(), "");
    expect_reasons(run, lines);
    if (testing::Test::HasFatalFailure()) return;
  }
  trouble.repair(run);
  for (int steps = 0; steps < 50 && run.step(); ++steps) {
    trouble.nag(run);
    run.hold_round();
    ASSERT_EQ(laws.broken(), "");
    expect_reasons(run, lines);
    if (testing::Test::HasFatalFailure()) return;
  }
  trouble.end(run);
  for (int steps = 0; steps < 20'000 && run.step(); ++steps) {
    run.hold_round();
    ASSERT_EQ(laws.broken(), "");
  }
  laws.finish();
  ASSERT_EQ(laws.broken(), "");
}

TEST(LiveLaws, EveryJobEndsWhicheverPoliciesTakeOver) {
  const std::vector<std::string> all = all_policies();
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed * 7919);
    std::vector<std::string> names = {pick(random, all), pick(random, all)};
    SCOPED_TRACE(fmt::format("seed {}: {} and {}", seed, names[0], names[1]));
    Lines lines;
    expect_all_end(seed, names, lines);
    if (HasFatalFailure()) return;
    if (seed % 25 != 0) continue;
    Lines again;
    expect_all_end(seed, names, again);
    ASSERT_EQ(lines.lines, again.lines);
  }
}

TEST(LiveLaws, AJobThatIsReleasedLateAndThoseBehindItAllEnd) {
  Cluster cluster;
  cluster.nodes.resize(2);
  for (Node& node : cluster.nodes) node.gpus = 1;
  Workload workload;
  workload.profiles = {{.stage_s = {1, 1, 1}, .slots = {2, 1, 1}}};
  for (const int gpus : {1, 1, 2, 2}) {
    JobSpec& job = workload.jobs.emplace_back();
    job.id = static_cast<JobId>(workload.jobs.size() - 1);
    job.gpus = gpus;
    job.iterations = 100.0 * static_cast<double>(workload.jobs.size());
    job.iteration_s = 3;
    job.profile = ProfileId{0};
  }
  const JobId late{2};
  for (const std::string& policy : all_policies()) {
    SCOPED_TRACE(policy);
    Lines lines;
    LiveRun run(workload, cluster, policy, lines);
    ASSERT_TRUE(run.step());
    run.hold(late);
    run.hold_round();
    const State& state = run.scheduler().state();
    while (!is_final(state.job(JobId{0}).state) && run.step()) run.hold_round();
    run.release(late);
    while (run.step()) run.hold_round();
    for (const Job& job : state.jobs()) ASSERT_TRUE(is_final(job.state)) << index(job.spec->id);
  }
}

TEST(LiveLaws, AJobThatIsAloneGoesOnWhicheverPolicyTakesOver) {
  Cluster cluster;
  cluster.nodes.resize(2);
  for (Node& node : cluster.nodes) node.gpus = 4;
  Workload workload;
  workload.profiles = {{.stage_s = {1, 1, 1}, .slots = {2, 1, 1}}};
  JobSpec& job = workload.jobs.emplace_back();
  job.gpus = 2;
  job.iterations = 10'000;
  job.iteration_s = 3;
  job.start_cost = std::chrono::seconds(10);
  job.profile = ProfileId{0};
  const std::vector<std::string> names = all_policies();
  for (const std::string& before : names) {
    for (const std::string& after : names) {
      SCOPED_TRACE(fmt::format("{} after {}", after, before));
      Lines lines;
      LiveRun run(workload, cluster, before, lines);
      const auto runs = [&] { return !run.scheduler().state().running().empty(); };
      while (!runs() && run.step()) run.hold_round();
      ASSERT_TRUE(runs());
      run.take_over(after);
      run.hold_round();
      ASSERT_TRUE(runs());
      ASSERT_EQ(std::ranges::count_if(lines.lines,
                                      [](const std::string& line) {
                                        return line.find(to_string(EventKind::Paused)) !=
                                               std::string::npos;
                                      }),
                0);
      run.lose(index(run.scheduler().state().job(JobId{0}).held.devices.front().node));
      ASSERT_FALSE(runs());
      run.take_over(after);
      run.hold_round();
      while (!runs() && run.step()) run.hold_round();
      ASSERT_TRUE(runs()) << "there is another node";
    }
  }
}

}  // namespace
}  // namespace orrery
