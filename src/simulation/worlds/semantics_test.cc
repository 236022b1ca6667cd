#include "simulation/worlds/semantics.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scheduling/prediction/group_speed.h"
#include "scheduling/prediction/opportunistic.h"
#include "simulation/kernel/simulation.h"

namespace orrery {
namespace {

using std::chrono::seconds;
const double kAlone = ContentionModel().factor(1);  // of the time for its iterations

constexpr JobId kA{0};
constexpr JobId kB{1};

std::vector<JobId> at(Semantics& semantics, double now_s) {
  std::vector<Semantics::Ended> ended;
  semantics.advance(time_from_seconds(now_s), ended);
  std::vector<JobId> jobs;
  for (const Semantics::Ended& end : ended) jobs.push_back(end.job);
  return jobs;
}

TEST(OrrerySemantics, AJobStartsWhenItIsReadyAndEndsWhenItsWorkIsDone) {
  const auto semantics = make_orrery_semantics(1);
  semantics->hold(kA, 10, Time(seconds(30)), {});
  semantics->pace(kA, 2, seconds(30));
  EXPECT_EQ(semantics->next_end(), Time(seconds(50)));
  EXPECT_TRUE(at(*semantics, 30).empty());
  EXPECT_EQ(semantics->work_left(kA), 10);
  EXPECT_TRUE(at(*semantics, 34).empty());
  EXPECT_EQ(semantics->work_left(kA), 8);
  EXPECT_EQ(at(*semantics, 50), std::vector{kA});
  EXPECT_EQ(semantics->next_end(), kNever);
}

TEST(OrrerySemantics, AnotherPaceCountsFromNowOn) {
  const auto semantics = make_orrery_semantics(1);
  semantics->hold(kA, 10, Time{}, {});
  semantics->pace(kA, 1, {});
  at(*semantics, 4);
  semantics->pace(kA, 3, {});
  EXPECT_EQ(semantics->next_end(), Time(seconds(22)));
  at(*semantics, 10);
  EXPECT_DOUBLE_EQ(semantics->drop(kA), 4);
  EXPECT_EQ(semantics->next_end(), kNever);
}

TEST(OrrerySemantics, JobsThatEndTogetherEndInTheOrderOfTheirIds) {
  const auto semantics = make_orrery_semantics(2);
  for (const JobId job : {kB, kA}) {
    semantics->hold(job, 5, Time{}, {});
    semantics->pace(job, 1, {});
  }
  EXPECT_EQ(at(*semantics, 5), (std::vector{kA, kB}));
}

Workload two_jobs() {
  Workload workload;
  workload.jobs.resize(2);
  workload.jobs[1].id = kB;
  return workload;
}

TEST(MuriSemantics, TheStartUpIsTakenOffAtEveryEventButNotForecast) {
  const Workload workload = two_jobs();
  ReleasedClock clock(workload.jobs.size());
  const auto semantics = make_muri_semantics(workload, {}, clock);
  semantics->hold(kA, 100, Time(seconds(10)), {});
  semantics->pace(kA, 1, seconds(10));
  EXPECT_EQ(semantics->next_end(), Time(seconds(100)));
  EXPECT_TRUE(at(*semantics, 30).empty());
  EXPECT_DOUBLE_EQ(semantics->work_left(kA), 80);  // 30 s less 10 s
  EXPECT_EQ(semantics->next_end(), Time(seconds(110)));
  EXPECT_TRUE(at(*semantics, 35).empty());
  EXPECT_DOUBLE_EQ(semantics->work_left(kA), 80);  // 5 s are less than a start-up
  EXPECT_EQ(semantics->next_end(), Time(seconds(115)));
  EXPECT_EQ(at(*semantics, 115), std::vector{kA});
}

TEST(MuriSemantics, EndsThatNearlyCoincideAreOne) {
  const Workload workload = two_jobs();
  ReleasedClock clock(workload.jobs.size());
  const auto semantics = make_muri_semantics(workload, {}, clock);
  semantics->hold(kA, 100, Time{}, {});
  semantics->pace(kA, 1, {});
  semantics->hold(kB, 100 + 5e-8, Time{}, {});
  semantics->pace(kB, 1, {});
  const Time end = semantics->next_end();
  EXPECT_EQ(at(*semantics, orrery::seconds(end)).size(), 2u);
}

class EndTimes final : public EventSink {
 public:
  std::vector<double> end_s = std::vector<double>(8, -1);
  std::vector<double> ready_s = std::vector<double>(8, -1);  // of the last grant
  int regroupings = 0;

  void write(const Event& event) override {
    if (event.kind == EventKind::Completed) end_s[index(event.job)] = orrery::seconds(event.time);
    if (event.grant != nullptr) ready_s[index(event.job)] = orrery::seconds(event.ready);
    regroupings += event.kind == EventKind::Regrouped ? 1 : 0;
  }
};

struct Scene {
  Cluster cluster;
  Workload workload;

  Scene() { cluster.nodes.emplace_back().gpus = 1; }

  JobSpec& add(double at_s, double iterations, double iteration_s, double start_s = 0) {
    JobSpec& job = workload.jobs.emplace_back();
    job.id = static_cast<JobId>(workload.jobs.size() - 1);
    job.submitted = time_from_seconds(at_s);
    job.iterations = iterations;
    job.iteration_s = iteration_s;
    job.start_cost = from_seconds(start_s);
    return job;
  }

  EndTimes run(const std::string& policy, std::map<std::string, std::string> options = {},
               SemanticsKind semantics = SemanticsKind::Orrery, Duration round = {}) {
    EndTimes times;
    const auto outcome =
        simulate({.workload = &workload,
                  .cluster = &cluster,
                  .run = {.policy = {.name = policy, .options = std::move(options), .round = round},
                          .semantics = semantics}},
                 times);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return times;
  }
};

TEST(Simulation, AJobThatIsStoppedIsChargedForItsRestartOnce) {
  Scene scene;
  scene.add(0, 1000, 1, 10);
  scene.add(100, 50, 1, 5);  // shorter: takes the GPU for 5 s of start-up and its work
  const EndTimes times = scene.run("srtf");
  const double second_s = 100 + 5 + 50 * kAlone;
  EXPECT_NEAR(times.end_s[1], second_s, 1e-6);
  EXPECT_NEAR(times.end_s[0], second_s + 10 + (1000 * kAlone - 90), 1e-6);
}

TEST(Simulation, AJobMayEndInsideARound) {
  Scene scene;
  scene.add(0, 100, 1);
  scene.add(0, 100, 1);
  const EndTimes times = scene.run("fifo", {}, SemanticsKind::Orrery, seconds(60));
  EXPECT_NEAR(times.end_s[0], 100 * kAlone, 1e-6);
  EXPECT_NEAR(times.end_s[1], 120 + 100 * kAlone, 1e-6);  // starts at the next round
}

TEST(Simulation, TheRunEndsWhenTheJobsOfItsWindowHave) {
  Scene scene;
  for (int i = 0; i < 6; ++i) scene.add(i, 100, 1);
  scene.workload.jobs[2].gpus = 9;  // refused, which is an end as well
  EndTimes times;
  const auto outcome =
      simulate({.workload = &scene.workload,
                .cluster = &scene.cluster,
                .run = {.policy = {.name = "fifo"}, .window = JobWindow{JobId{1}, JobId{4}}}},
               times);
  ASSERT_TRUE(outcome.ok());
  EXPECT_GT(times.end_s[3], 0);
  EXPECT_EQ(times.end_s[4], -1);
  EXPECT_EQ(outcome.value().unfinished, 2);
}

// Two jobs whose stages do not meet, and which gain from sharing the one GPU.
Scene two_that_share() {
  Scene scene;
  scene.workload.profiles = {{.stage_s = {0.5, 0.01, 0.01}, .slots = {2, 1, 1}},
                             {.stage_s = {0.01, 0.5, 0.01}, .slots = {2, 1, 1}}};
  scene.add(0, 100, 0.52, 7).profile = ProfileId{0};
  scene.add(0, 2000, 0.52, 11).profile = ProfileId{1};
  return scene;
}

TEST(Machines, AGroupTakesTheTimeOfItsCycle) {
  Scene scene = two_that_share();
  GroupSpeed speed(scene.workload.profiles, Ordering::Best);
  const std::vector<ProfileId> both = {ProfileId{0}, ProfileId{1}};
  const EndTimes times = scene.run("muri-s", {{"quantum", "0s"}});
  EXPECT_NEAR(times.end_s[0], 7 + 100 * speed.cycle_s(both), 1e-6);
}

TEST(Machines, AJobThatLosesASharerGoesFasterAndRestartsNothing) {
  Scene scene = two_that_share();
  GroupSpeed speed(scene.workload.profiles, Ordering::Best);
  const std::vector<ProfileId> both = {ProfileId{0}, ProfileId{1}};
  const EndTimes times = scene.run("muri-s", {{"quantum", "0s"}});
  const double first_end_s = times.end_s[0];
  const double left = 2000 - (first_end_s - 11) / speed.cycle_s(both);
  EXPECT_NEAR(times.end_s[1], first_end_s + left * 0.52 * kAlone, 1e-6);
}

TEST(Machines, AnOpportunisticJobFitsIntoWhatTheGuaranteedOneLeaves) {
  Scene scene = two_that_share();
  scene.workload.jobs[1].priority = 1;
  scene.workload.jobs[1].iterations = 10;
  const EndTimes times = scene.run("antman");
  const double beside_s = opportunistic_iteration_s(scene.workload.profiles[1],
                                                    scene.workload.profiles[0], 0.52 * kAlone);
  EXPECT_NEAR(times.end_s[0], 7 + 100 * 0.52 * kAlone, 1e-6);  // never slowed down
  EXPECT_GT(beside_s, 0.52 * kAlone);
  EXPECT_NEAR(times.end_s[1], 11 + 10 * beside_s, 1e-6);
}

TEST(Machines, AnOpportunisticJobIsAloneOnceTheGuaranteedOneEnds) {
  Scene scene = two_that_share();
  scene.workload.jobs[1].priority = 1;
  const EndTimes times = scene.run("antman");
  const double beside_s = opportunistic_iteration_s(scene.workload.profiles[1],
                                                    scene.workload.profiles[0], 0.52 * kAlone);
  const double left = 2000 - (times.end_s[0] - 11) / beside_s;
  EXPECT_NEAR(times.end_s[1], times.end_s[0] + left * 0.52 * kAlone, 1e-6);
}

// One job of 250 iterations of a second, on one GPU, that is there from the beginning.
Time end_in_synergys_world(const std::map<std::string, std::string>& options) {
  class LastEnd final : public EventSink {
   public:
    void write(const Event& event) override {
      if (event.kind == EventKind::Completed) at = event.time;
    }
    Time at{};
  };
  Workload workload;
  workload.jobs.resize(1);
  workload.jobs[0].iterations = 250;
  workload.jobs[0].iteration_s = 1;
  Cluster cluster;
  cluster.nodes.resize(1);
  cluster.nodes[0].gpus = 1;
  LastEnd last;
  EXPECT_TRUE(simulate({.workload = &workload,
                        .cluster = &cluster,
                        .run = {.policy = {.name = "fifo+proportional", .options = options},
                                .semantics = SemanticsKind::Synergy}},
                       last)
                  .ok());
  return last.at;
}

TEST(SynergySemantics, AJobEndsWithTheRoundInWhichItsWorkIsDone) {
  EXPECT_EQ(end_in_synergys_world({}), Time(seconds(300)));
}

TEST(SynergySemantics, JobsThatAreAllThereBeginAfterASecondHoweverThatIsSpelt) {
  for (const char* yes : {"true", "on", "yes", "1"}) {
    EXPECT_EQ(end_in_synergys_world({{"static", yes}}), Time(seconds(301))) << yes;
  }
  EXPECT_EQ(end_in_synergys_world({{"static", "off"}}), Time(seconds(300)));
}

TEST(Semantics, AnUnknownNameSaysWhichThereAre) {
  const auto unknown = parse_semantics("slurm");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("choose orrery, muri, elasticflow or synergy"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
