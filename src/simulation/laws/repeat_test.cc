// The log of a run is the run: the same again, beside any others, from shuffled input, and back.
#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <thread>

#include "report/event_log/event_log_reader.h"
#include "report/event_log/event_log_writer.h"
#include "scheduling/policy/registry.h"
#include "simulation/kernel/simulation.h"
#include "simulation/testing/law_sink.h"
#include "simulation/testing/random_workload.h"
#include "workload/trace.h"

namespace orrery {
namespace {

class StringWriter final : public ByteWriter {
 public:
  explicit StringWriter(std::string& text) : text_(text) {}
  Status write(std::string_view bytes) override {
    text_ += bytes;
    return {};
  }
  Status finish() override { return {}; }

 private:
  std::string& text_;
};

class Both final : public EventSink {
 public:
  Both(EventSink& first, EventSink& second) : first_(first), second_(second) {}
  void write(const Event& event) override {
    first_.write(event);
    second_.write(event);
  }

 private:
  EventSink& first_;
  EventSink& second_;
};

struct World {
  Cluster cluster;
  Workload workload;
};

World make_world(std::uint64_t seed) {
  Random random(seed);
  World world;
  world.cluster = random_cluster(random);
  world.workload = random_workload(random, world.cluster, 30, /*distinct=*/true);
  return world;
}

std::string log_of(const World& world, std::string_view policy, std::string_view placement,
                   LawSink* laws = nullptr) {
  std::string text;
  EventLogWriter log(std::make_unique<StringWriter>(text), world.cluster, world.workload);
  LawSink unused({.cluster = &world.cluster, .workload = &world.workload});
  Both both(log, laws != nullptr ? *laws : unused);
  const auto outcome =
      simulate({.workload = &world.workload,
                .cluster = &world.cluster,
                .run = {.policy = {.name = std::string(policy),
                                   .options = {{"placement", std::string(placement)}},
                                   .seed = 5}}},
               both);
  EXPECT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(log.finish().ok());
  return text;
}

TEST(Repeat, TheSameSetupGivesTheSameBytesBesideAnyNumberOfOthers) {
  const World world = make_world(11);
  std::vector<std::string> alone;
  for (const PolicyInfo& policy : policies()) alone.push_back(log_of(world, policy.name, "random"));
  for (const std::size_t at_once : {std::size_t{2}, policies().size()}) {
    std::vector<std::string> beside(policies().size());
    for (std::size_t begin = 0; begin < beside.size(); begin += at_once) {
      std::vector<std::jthread> threads;
      for (std::size_t i = begin; i < std::min(begin + at_once, beside.size()); ++i) {
        threads.emplace_back([&, i] { beside[i] = log_of(world, policies()[i].name, "random"); });
      }
    }
    for (std::size_t i = 0; i < beside.size(); ++i) {
      EXPECT_GT(alone[i].size(), 1000u);
      EXPECT_TRUE(alone[i] == beside[i]) << policies()[i].name << " with " << at_once << " threads";
    }
  }
}

TEST(Repeat, AnotherSeedPlacesAtRandomElsewhere) {
  const World world = make_world(11);
  class Starts final : public EventSink {
   public:
    std::vector<Devices> devices;
    void write(const Event& event) override {
      if (event.grant != nullptr) devices.push_back(event.grant->devices);
    }
  };
  const auto run = [&](std::uint64_t seed) {
    Starts starts;
    EXPECT_TRUE(simulate({.workload = &world.workload,
                          .cluster = &world.cluster,
                          .run = {.policy = {.name = "fifo",
                                             .options = {{"placement", "random"}},
                                             .seed = seed}}},
                         starts)
                    .ok());
    return starts.devices;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

// Everything but the spec, which is another object, and names, which are numbered as they appear.
void expect_same(const Job& was, const Job& is, const std::string& where) {
  EXPECT_EQ(was.spec->name, is.spec->name) << where;
  EXPECT_EQ(was.spec->submitted, is.spec->submitted) << where;
  EXPECT_EQ(was.spec->iterations, is.spec->iterations) << where;
  EXPECT_EQ(was.state, is.state) << where;
  EXPECT_EQ(was.held, is.held) << where;
  EXPECT_EQ(was.run_since, is.run_since) << where;
  EXPECT_EQ(was.ready, is.ready) << where;
  EXPECT_EQ(was.attained, is.attained) << where;
  EXPECT_EQ(was.worked, is.worked) << where;
  EXPECT_EQ(was.work_left, is.work_left) << where;
}

TEST(Repeat, ReplayingTheLogRebuildsEveryJob) {
  const World world = make_world(12);
  for (const PolicyInfo& policy : policies()) {
    LawSink live({.cluster = &world.cluster, .workload = &world.workload});
    std::istringstream text(log_of(world, policy.name, "consolidated", &live));
    auto opened = EventLogReader::from(text, "log");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EventLogReader reader = std::move(opened).value();
    State replayed;
    std::deque<JobSpec> specs;
    Event event;
    while (true) {
      const auto more = reader.next(event);
      ASSERT_TRUE(more.ok()) << more.error().message;
      if (!more.value()) break;
      if (event.kind == EventKind::Submitted) event.spec = &specs.emplace_back(*event.spec);
      replayed.apply(event);
    }
    const std::string where(policy.name);
    ASSERT_EQ(replayed.jobs().size(), live.state().jobs().size()) << where;
    EXPECT_EQ(replayed.waiting(), live.state().waiting()) << where;
    for (std::size_t i = 0; i < replayed.jobs().size(); ++i) {
      expect_same(live.state().jobs()[i], replayed.jobs()[i], where + " job " + std::to_string(i));
    }
  }
}

TEST(Repeat, TheOrderOfLinesInATraceDoesNotMatter) {
  const World world = make_world(13);
  std::ostringstream written;
  ASSERT_TRUE(write_trace(world.workload, written, TraceSyntax::Csv).ok());
  std::vector<std::string> lines;
  std::istringstream in(written.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  Random random(3);
  for (std::size_t i = lines.size() - 1; i > 1; --i) {  // the header stays first
    const auto other = random.between(1, static_cast<std::int64_t>(i));
    std::swap(lines[i], lines[static_cast<std::size_t>(other)]);
  }
  std::string shuffled;
  for (const std::string& line : lines) shuffled += line;
  ASSERT_NE(shuffled, written.str());
  const auto read = [&](const std::string& text) {
    std::istringstream stream(text);
    auto workload = parse_trace("trace.csv", stream);
    EXPECT_TRUE(workload.ok()) << workload.error().message;
    return World{world.cluster, std::move(workload).value()};
  };
  const World in_order = read(written.str());
  const World mixed = read(shuffled);
  for (const PolicyInfo& policy : policies()) {
    EXPECT_TRUE(log_of(in_order, policy.name, "topology") == log_of(mixed, policy.name, "topology"))
        << policy.name;
  }
}

}  // namespace
}  // namespace orrery
