// What every policy must keep while nodes are lost and come back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/event_log/event_log_reader.h"
#include "report/event_log/event_log_writer.h"
#include "report/metrics/metrics.h"
#include "scheduling/policy/registry.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/policy_effects.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

using Options = std::map<std::string, std::string>;

struct Variant {
  std::string policy;
  Options options{};
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.policy;
  for (const auto& [key, value] : variant.options) *out << ' ' << key << '=' << value;
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const PolicyInfo& info : policies()) all.push_back({std::string(info.name)});
  all.push_back({"srtf", {{"sticky", "false"}}});
  all.push_back({"las", {{"limits", "30s,100s,300s"}}});
  all.push_back({"fifo", {{"backfill", "false"}}});
  all.push_back({"muri-l", {{"variant", "reference"}}});
  all.push_back({"elasticflow", {{"admission", "none"}}});
  all.push_back({"srtf+tune"});
  all.push_back({"las+greedy"});
  for (const PlacementRuleInfo& rule : placement_rules()) {
    all.push_back({"srtf", {{"placement", std::string(rule.name)}}});
  }
  return all;
}

// Some nodes are lost a few times each, some at once, one perhaps for ever.
std::vector<Outage> random_outages(Random& random, const Cluster& cluster, bool all_come_back) {
  std::vector<Outage> outages;
  const auto last = static_cast<std::int64_t>(cluster.nodes.size()) - 1;
  const auto count = random.between(0, 12);
  for (std::int64_t i = 0; i < count; ++i) {
    Outage outage{.node = static_cast<NodeId>(random.between(0, last))};
    outage.from = time_from_seconds(static_cast<double>(random.between(0, 40)) * 30);
    outage.to = outage.from + from_seconds(random.exponential(200));
    outages.push_back(outage);
    if (random.uniform() > 0.2) continue;
    for (std::int64_t node = 0; node <= last; ++node) {
      outage.node = static_cast<NodeId>(node);
      outages.push_back(outage);
    }
  }
  if (!all_come_back && !outages.empty()) outages.front().to = kNever;
  return outages;
}

FaultRules random_rules(Random& random) {
  FaultRules rules;
  if (random.uniform() < 0.6) rules.checkpoint_interval = from_seconds(20 + random.uniform() * 200);
  if (random.uniform() < 0.6) rules.checkpoint_cost = from_seconds(random.uniform() * 15);
  if (random.uniform() < 0.5) rules.notice = from_seconds(random.uniform() * 30);
  return rules;
}

struct Case {
  Case(std::uint64_t seed, bool all_come_back) : random(seed), cluster(random_cluster(random)) {
    workload = random_workload(random, cluster, 20);
    add_curves_and_deadlines(random, workload);
    for (JobSpec& job : workload.jobs) {
      if (random.uniform() < 0.2) job.checkpoint_cost = from_seconds(random.uniform() * 20);
    }
    rules = random_rules(random);
    changes = node_changes(random_outages(random, cluster, all_come_back), rules.notice);
  }

  Random random;
  Cluster cluster;
  Workload workload;
  FaultRules rules;
  std::vector<NodeChange> changes;
};

SimulationSetup setup_of(const Case& made, const Variant& variant, std::uint64_t seed) {
  SimulationSetup setup{.workload = &made.workload,
                        .cluster = &made.cluster,
                        .run = {.policy = {.name = variant.policy,
                                           .options = variant.options,
                                           .seed = seed,
                                           .round = std::chrono::seconds(seed % 3 == 0 ? 45 : 0)},
                                .faults = made.rules},
                        .node_changes = made.changes};
  return setup;
}

bool preempts(const Variant& variant) { return may_preempt(variant.policy, variant.options); }

// For each job the last reason that it was given for waiting.
class Reasons final : public EventSink {
 public:
  explicit Reasons(EventSink& next) : next_(next) {}
  void write(const Event& event) override {
    if (event.kind == EventKind::Submitted) said_.resize(index(event.job) + 1);
    if (event.kind == EventKind::Queued || event.kind == EventKind::Paused) {
      said_[index(event.job)] = event.reason.code;
    }
    next_.write(event);
  }
  Reason::Code said(JobId job) const { return said_[index(job)]; }

 private:
  EventSink& next_;
  std::vector<Reason::Code> said_;
};

class FaultLaws : public testing::TestWithParam<Variant> {};

TEST_P(FaultLaws, HoldWhileNodesComeAndGo) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const bool all_come_back = seed % 4 != 0;
    const Case made(seed, all_come_back);
    SCOPED_TRACE(fmt::format("seed {}", seed));
    LawSink laws({.cluster = &made.cluster,
                  .workload = &made.workload,
                  .honest = true,
                  .preempts = preempts(GetParam()),
                  .hosted = GetParam().policy.find('+') != std::string::npos,
                  .faults = made.rules});
    Reasons reasons(laws);
    SimulationSetup setup = setup_of(made, GetParam(), seed);
    setup.cancel = &laws.stop();
    const auto outcome = simulate(setup, reasons);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    if (all_come_back) laws.finish();
    ASSERT_EQ(laws.broken(), "");
    for (const Job& job : laws.state().jobs()) {
      if (is_final(job.state)) continue;
      ASSERT_FALSE(all_come_back) << job.spec->name;
      ASSERT_NE(job.state, JobState::Running) << job.spec->name;
      ASSERT_NE(reasons.said(job.spec->id), Reason::Code::None) << job.spec->name;
    }
  }
}

std::string log_of(const SimulationSetup& setup) {
  std::ostringstream out;
  class Text final : public ByteWriter {
   public:
    explicit Text(std::ostream& out) : out_(out) {}
    Status write(std::string_view bytes) override {
      out_ << bytes;
      return {};
    }
    Status finish() override { return {}; }

   private:
    std::ostream& out_;
  };
  EventLogWriter log(std::make_unique<Text>(out), *setup.cluster, *setup.workload, setup.run);
  EXPECT_TRUE(simulate(setup, log).ok());
  EXPECT_TRUE(log.finish().ok());
  return out.str();
}

TEST_P(FaultLaws, TheSameFaultsGiveTheSameEvents) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Case made(seed, true);
    const SimulationSetup setup = setup_of(made, GetParam(), seed);
    ASSERT_EQ(log_of(setup), log_of(setup));
  }
}

// Keeps what a log does not: specs stay where they are.
class Follower final : public EventSink {
 public:
  void write(const Event& event) override {
    Event kept = event;
    if (event.spec != nullptr) kept.spec = &specs_.emplace_back(*event.spec);
    state.apply(kept);
  }
  State state;

 private:
  std::deque<JobSpec> specs_;
};

TEST_P(FaultLaws, AnEventLogGivesTheSameStateAndFigures) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Case made(seed, seed % 2 == 0);
    const SimulationSetup setup = setup_of(made, GetParam(), seed);
    const MetricsOptions options{
        .cluster = made.cluster, .workload = &made.workload, .window = {}, .faults = made.rules};
    Metrics metrics(options);
    ASSERT_TRUE(simulate(setup, metrics).ok());
    Follower direct;
    ASSERT_TRUE(simulate(setup, direct).ok());

    std::istringstream in(log_of(setup));
    auto opened = EventLogReader::from(in, "log");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EventLogReader reader = std::move(opened).value();
    ASSERT_EQ(reader.run().faults, made.rules);
    Follower read;
    Metrics read_metrics({.cluster = reader.cluster(),
                          .workload = &reader.workload(),
                          .window = {},
                          .faults = reader.run().faults});
    Event event;
    std::vector<NodeChange> changes;
    while (true) {
      const auto more = reader.next(event);
      ASSERT_TRUE(more.ok()) << more.error().message;
      if (!more.value()) break;
      if (is_about_node(event.kind)) changes.push_back({event.time, event.kind, event.node});
      read.write(event);
      read_metrics.write(event);
    }
    ASSERT_LE(changes.size(), made.changes.size());
    ASSERT_TRUE(std::equal(changes.begin(), changes.end(), made.changes.begin()));
    ASSERT_EQ(read.state.jobs().size(), direct.state.jobs().size());
    for (const Job& job : direct.state.jobs()) {
      const Job& other = read.state.job(job.spec->id);
      ASSERT_EQ(other.state, job.state);
      ASSERT_EQ(other.work_left, job.work_left);
      ASSERT_EQ(other.attained, job.attained);
    }
    for (std::size_t node = 0; node < made.cluster.nodes.size(); ++node) {
      const auto id = static_cast<NodeId>(node);
      ASSERT_EQ(read.state.is_up(id), direct.state.is_up(id));
    }
    ASSERT_EQ(read_metrics.summary().lost_gpu_h, metrics.summary().lost_gpu_h);
    ASSERT_EQ(read_metrics.summary().cost, metrics.summary().cost);
    ASSERT_EQ(read_metrics.summary().node_downtime_h, metrics.summary().node_downtime_h);
  }
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.policy;
  for (const auto& [key, value] : info.param.options) name += "_" + key + "_" + value;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, FaultLaws, testing::ValuesIn(variants()), name_of);

}  // namespace
}  // namespace orrery
