#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "base/test_folder.h"
#include "report/event_log/event_log_reader.h"
#include "report/event_log/event_log_writer.h"
#include "report/event_log/reader_complaint.h"
#include "report/json.h"
#include "report/metrics/metrics.h"
#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

TestRun eventful() {
  TestRun run(2, 8);
  Node& node = run.cluster.nodes[1];
  node = {"n\"1<", 64, 96000, 512LL << 30, 80LL << 30, "A100", 3};
  run.workload.names = {"resnet50", "alice", "A100"};
  run.workload.profiles = {{{0.5}, {4}}, {{0.1, 1.0 / 3, 0.25}, {2, 1, 1}}};
  JobSpec& spec = run.submit(0.1, 0, 4, 1e7 / 3, 0.1);
  spec.name = "job \"zero\" </script>\n\x01\xC3\xA9";
  spec.cpu_milli = 12500;
  spec.memory_bytes = 1LL << 40;
  spec.gpu_memory_bytes = 1 << 30;
  spec.start_cost = from_seconds(7.25);
  spec.checkpoint_cost = from_seconds(2.5);
  spec.lasting = true;
  spec.profile = ProfileId{1};
  spec.model = NameId{0};
  spec.user = NameId{1};
  spec.gpu_type = NameId{2};
  spec.batch_size = 32;
  spec.priority = 1;
  spec.deadline = time_from_seconds(5000);
  spec.deadline_kind = DeadlineKind::Soft;
  spec.deadline_value = 2.5;
  spec.curve = CurveId{1};
  run.workload.curves = {{{{1, 4}}, {}},
                         {{{1, 1.0 / 3}, {2, 0.6}, {8, 1e-9}}, {{2, 2, 0.5}, {8, 2, 0.125}}}};
  run.workload.curves[1].widest = 64;
  run.workload.sensitivities = {
      {{1000, 3000}, {20, 62, 125}, {0.1, 0.5, 0.5, 0.1, 1, 2.0 / 3}, {3000, 62}},
      {{1000}, {1}, {1}, {1000, 1}}};
  spec.sensitivity = SensitivityId{1};
  run.submit(0.1, 1).profile = ProfileId{1};
  JobSpec& third = run.submit(0.2, 2);
  third.user = NameId{1};
  third.curve = CurveId{1};
  third.sensitivity = SensitivityId{0};
  third.deadline = time_from_seconds(100);
  run.add(0.2, 2, Admitted).promised = time_from_seconds(99.5);
  run.add(0.2, 2, Queued).reason = {Reason::Code::GpusBusy, kNoJob, 1, 0};
  Grant& grant = run.hold(1, 0, Started, {{NodeId{0}, 0xF}, {NodeId{1}, ~0ULL}}, 1.0 / 7, 8.25);
  grant.cpu_milli = 3000;
  grant.memory_bytes = 17;
  grant.sharing = Sharing::Interleaved;
  grant.group = GroupId{0};
  grant.position = 2;
  run.hold(2, 1, Started, {{NodeId{0}, 0x80}}).sharing = Sharing::Opportunistic;
  run.hold(3, 0, Regrouped, {{NodeId{0}, 0xF}}).sharing = Sharing::Guaranteed;
  run.hold(4, 0, Moved, {{NodeId{1}, 1ULL << 63}});
  run.hold(5, 0, Resized, {{NodeId{1}, 3}}, 0);
  Event& paused = run.add(6, 0, Paused);
  paused.work_left = 0.1 + 0.2;
  paused.reason = {Reason::Code::Outranked, JobId{1}, -5, 1LL << 62};
  run.hold(7, 0, Resumed, {{NodeId{1}, 3}}).iterations_per_s =
      std::numeric_limits<double>::infinity();
  run.add(8, 0, Completed).finished = time_from_seconds(7.875);
  run.add(8, 1, Failed).reason = {Reason::Code::NodeLost, kNoJob, 1, 0};
  run.add(9, 2, Cancelled).reason = {Reason::Code::Cancelled, kNoJob, 0, 0};
  run.submit(9, 4).curve = CurveId{0};
  run.add(9, 4, Rejected).reason = {Reason::Code::Promised, kNoJob, 4, 1, time_from_seconds(9),
                                    time_from_seconds(11),  kNever};
  run.submit(9, 3, 1000);
  run.add(9, 3, Rejected).reason = {Reason::Code::TooLarge, kNoJob, 1000, 72};
  return run;
}

class EventLog : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return folder_.file(name); }

  std::string write(const TestRun& run, const std::string& name) const {
    auto writer = EventLogWriter::open(path(name), run.cluster, run.workload);
    EXPECT_TRUE(writer.ok());
    const auto log = std::move(writer).value();
    run.send(*log);
    EXPECT_TRUE(log->finish().ok());
    return bytes(name);
  }

  std::string bytes(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  TestFolder folder_;
};

void expect_same_spec(const JobSpec& got, const Workload& names, const JobSpec& want,
                      const Workload& want_names) {
  EXPECT_EQ(got.id, want.id);
  EXPECT_EQ(got.name, want.name);
  EXPECT_EQ(got.submitted, want.submitted);
  EXPECT_EQ(got.gpus, want.gpus);
  EXPECT_EQ(got.cpu_milli, want.cpu_milli);
  EXPECT_EQ(got.memory_bytes, want.memory_bytes);
  EXPECT_EQ(got.gpu_memory_bytes, want.gpu_memory_bytes);
  EXPECT_EQ(got.iterations, want.iterations);
  EXPECT_EQ(got.iteration_s, want.iteration_s);
  EXPECT_EQ(got.start_cost, want.start_cost);
  EXPECT_EQ(got.checkpoint_cost, want.checkpoint_cost);
  EXPECT_EQ(got.lasting, want.lasting);
  EXPECT_EQ(got.batch_size, want.batch_size);
  EXPECT_EQ(got.priority, want.priority);
  EXPECT_EQ(got.deadline, want.deadline);
  EXPECT_EQ(got.deadline_kind, want.deadline_kind);
  EXPECT_EQ(got.deadline_value, want.deadline_value);
  ASSERT_EQ(got.curve, want.curve);
  if (want.curve != kNoCurve) {
    EXPECT_EQ(names.curves.at(index(got.curve)), want_names.curves.at(index(want.curve)));
  }
  EXPECT_EQ(names.name_of(got.model), want_names.name_of(want.model));
  EXPECT_EQ(names.name_of(got.user), want_names.name_of(want.user));
  EXPECT_EQ(names.name_of(got.gpu_type), want_names.name_of(want.gpu_type));
  ASSERT_EQ(got.sensitivity, want.sensitivity);
  if (want.sensitivity != kNoSensitivity) {
    EXPECT_EQ(names.sensitivities.at(index(got.sensitivity)),
              want_names.sensitivities.at(index(want.sensitivity)));
  }
  ASSERT_EQ(got.profile, want.profile);
  if (want.profile == kNoProfile) return;
  EXPECT_EQ(names.profiles.at(index(got.profile)), want_names.profiles.at(index(want.profile)));
}

void expect_same_events(EventLogReader& reader, const TestRun& run) {
  Event got;
  for (const Event& want : run.events()) {
    const auto more = reader.next(got);
    ASSERT_TRUE(more.ok()) << more.error().message;
    ASSERT_TRUE(more.value());
    EXPECT_EQ(got.time, want.time);
    EXPECT_EQ(got.sequence, want.sequence);
    EXPECT_EQ(got.kind, want.kind);
    EXPECT_EQ(got.job, want.job);
    EXPECT_EQ(got.ready, want.ready);
    EXPECT_EQ(got.work_left, want.work_left);
    EXPECT_EQ(got.promised, want.promised);
    EXPECT_EQ(got.finished, want.finished);
    EXPECT_EQ(got.reason, want.reason);
    ASSERT_EQ(got.grant != nullptr, want.grant != nullptr);
    if (want.grant != nullptr) {
      EXPECT_EQ(*got.grant, *want.grant);
    }
    ASSERT_EQ(got.spec != nullptr, want.spec != nullptr);
    if (want.spec != nullptr) {
      expect_same_spec(*got.spec, reader.workload(), *want.spec, run.workload);
    }
  }
  const auto more = reader.next(got);
  ASSERT_TRUE(more.ok());
  EXPECT_FALSE(more.value());
}

TEST_F(EventLog, EventsComeBackAsTheyWere) {
  const TestRun run = eventful();
  for (const char* name : {"a.jsonl", "a.jsonl.zst"}) {
    write(run, name);
    auto opened = EventLogReader::open(path(name));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    EventLogReader reader = std::move(opened).value();
    expect_same_events(reader, run);
    ASSERT_EQ(reader.cluster().nodes.size(), 2u);
    const Node& node = reader.cluster().nodes[1];
    EXPECT_EQ(reader.cluster().name, "test");
    EXPECT_EQ(node.name, "n\"1<");
    EXPECT_EQ(node.gpus, 64);
    EXPECT_EQ(node.cpu_milli, 96000);
    EXPECT_EQ(node.memory_bytes, 512LL << 30);
    EXPECT_EQ(node.gpu_memory_bytes, 80LL << 30);
    EXPECT_EQ(node.gpu_type, "A100");
    EXPECT_EQ(node.switch_index, 3);
    EXPECT_EQ(reader.workload().name, "by-hand");
  }
}

TEST_F(EventLog, TheSameEventsGiveTheSameBytes) {
  EXPECT_EQ(write(eventful(), "a.jsonl"), write(eventful(), "b.jsonl"));
  EXPECT_EQ(write(eventful(), "a.jsonl.zst"), write(eventful(), "b.jsonl.zst"));
}

TEST_F(EventLog, ALogThatIsReadAndWrittenAgainIsTheSame) {
  const std::string first = write(eventful(), "a.jsonl");
  auto reader = EventLogReader::open(path("a.jsonl"));
  ASSERT_TRUE(reader.ok());
  EventLogReader log = std::move(reader).value();
  auto writer = EventLogWriter::open(path("b.jsonl"), log.cluster(), log.workload());
  ASSERT_TRUE(writer.ok());
  const auto copy = std::move(writer).value();
  Event event;
  for (auto more = log.next(event); more.ok() && more.value(); more = log.next(event)) {
    copy->write(event);
  }
  ASSERT_TRUE(copy->finish().ok());
  EXPECT_EQ(bytes("b.jsonl"), first);
}

TEST_F(EventLog, ALogGivesTheSummaryOfItsRun) {
  TestRun run(2, 8);
  run.workload.curves = {{{{1, 2}, {2, 3}, {4, 4}}, {}}};
  for (const int job : {0, 1, 2}) {
    JobSpec& spec = run.submit(job, job, 2, 40, 1.0 / 3);
    spec.curve = CurveId{0};
    spec.deadline = time_from_seconds(30);
    if (job == 1) spec.deadline_kind = DeadlineKind::Soft;
    spec.deadline_value = 5;
  }
  run.submit(2, 3, 4);
  run.add(2, 0, Admitted).promised = time_from_seconds(20);
  run.add(2, 2, Rejected).reason.code = Reason::Code::TooLate;
  run.hold(2, 0, Started, {{NodeId{0}, 1}}, 0, 4);
  run.hold(2, 1, Started, {{NodeId{1}, 3}}, 0);
  run.hold(2, 3, Started, {{NodeId{0}, 0xF0}});
  run.hold(10, 0, Resized, {{NodeId{0}, 0xF}}, 0, 11);
  run.add(40, 0, Completed).finished = time_from_seconds(30);
  run.add(40, 1, Completed).finished = time_from_seconds(29);
  run.add(50, 3, Completed);
  Metrics direct({.cluster = run.cluster, .workload = &run.workload, .window = {}});
  run.send(direct);
  ASSERT_EQ(direct.summary().deadlines_met, 2);
  ASSERT_TRUE(direct.summary().cluster_efficiency.has_value());
  write(run, "a.jsonl");
  auto opened = EventLogReader::open(path("a.jsonl"));
  ASSERT_TRUE(opened.ok());
  EventLogReader log = std::move(opened).value();
  Metrics folded({.cluster = log.cluster(), .workload = &log.workload(), .window = {}});
  Event event;
  for (auto more = log.next(event); more.ok() && more.value(); more = log.next(event)) {
    folded.write(event);
  }
  EXPECT_EQ(to_json(std::vector{folded.summary()}), to_json(std::vector{direct.summary()}));
}

TEST_F(EventLog, ALineReadsAsTheFormatPageSays) {
  TestRun run(1, 8);
  run.submit(1, 0, 2, 100, 0.25);
  run.hold(2, 0, Started, {{NodeId{0}, 3}}, 4, 2.5).cpu_milli = 6000;
  run.add(3, 0, Paused).reason = {Reason::Code::Outranked, JobId{9}, 0, 0};
  EXPECT_EQ(
      write(run, "a.jsonl"),
      "{\"orrery_events\":1,\"trace\":\"by-hand\",\"cluster\":{\"name\":\"test\",\"nodes\":["
      "{\"name\":\"n0\",\"gpus\":8}]}}\n"
      "{\"t\":1000000000,\"seq\":0,\"event\":\"submitted\",\"job\":0,\"spec\":{\"name\":"
      "\"job0\",\"submitted\":1000000000,\"gpus\":2,\"iterations\":100,\"iteration_s\":0.25}}\n"
      "{\"t\":2000000000,\"seq\":1,\"event\":\"started\",\"job\":0,\"grant\":{\"gpus\":[[0,"
      "\"3\"]],\"cpu_milli\":6000,\"rate\":4},\"ready\":2500000000}\n"
      "{\"t\":3000000000,\"seq\":2,\"event\":\"paused\",\"job\":0,\"reason\":{\"code\":"
      "\"outranked\",\"other\":9}}\n");
}

TEST_F(EventLog, ACutCompressedLogIsAnErrorAtAnyCut) {
  const std::string whole = write(eventful(), "a.jsonl.zst");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::istringstream stream(whole.substr(0, size));
    auto opened = EventLogReader::from(stream, "cut.zst");
    if (!opened.ok()) continue;
    EventLogReader reader = std::move(opened).value();
    Event event;
    auto more = reader.next(event);
    while (more.ok() && more.value()) more = reader.next(event);
    EXPECT_FALSE(more.ok()) << "cut at " << size << " of " << whole.size();
  }
}

TEST_F(EventLog, AFileThatCannotBeWrittenOrReadSaysSo) {
  const TestRun run = eventful();
  EXPECT_FALSE(EventLogWriter::open(path("no/such/folder.jsonl"), run.cluster, run.workload).ok());
  EXPECT_FALSE(EventLogReader::open(path("absent.jsonl")).ok());
  auto full = EventLogWriter::open("/dev/full", run.cluster, run.workload);
  ASSERT_TRUE(full.ok());
  const auto log = std::move(full).value();
  run.send(*log);
  EXPECT_FALSE(log->finish().ok());
}


const std::string kSubmitted =
    "{\"t\":5,\"seq\":0,\"event\":\"submitted\",\"job\":0,\"spec\":{\"submitted\":5,\"gpus\":1,"
    "\"iterations\":1,\"iteration_s\":1}}\n";

std::string started(const std::string& gpus) {
  return kSubmitted +
         "{\"t\":6,\"seq\":1,\"event\":\"started\",\"job\":0,\"grant\":{\"gpus\":" + gpus +
         "},\"ready\":6}\n";
}

TEST(EventLogReader, GoodLinesGiveNoComplaint) {
  EXPECT_EQ(complaint(kSubmitted), "");
  EXPECT_EQ(complaint(started("[[0,\"ff\"]]")), "");
}

TEST(EventLogReader, BadLinesAreNamedByFileAndLine) {
  EXPECT_EQ(complaint("{\"t\":"),
            "log:2: not a JSON object; was the log cut off while it was written?");
  EXPECT_EQ(complaint("[]\n"), "log:2: not a JSON object");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":6}\n"), "log:3: \"seq\" is missing");
  EXPECT_EQ(complaint(kSubmitted + kSubmitted), "log:3: job 0 comes twice");
  EXPECT_EQ(complaint("{\"t\":1,\"seq\":0,\"event\":\"queued\",\"job\":4}\n"),
            "log:2: job 4 was never submitted");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":1,\"seq\":1,\"event\":\"queued\",\"job\":0}\n"),
            "log:3: time runs backwards");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":6,\"seq\":1,\"event\":\"vanished\",\"job\":0}\n"),
            "log:3: unknown event \"vanished\"");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":6,\"seq\":1,\"event\":\"paused\",\"job\":0}\n"),
            "log:3: job 0 is paused although it is not running");
  EXPECT_EQ(complaint(started("[[0,\"1ff\"]]")),
            "log:3: mask 1ff names GPUs that node 0 lacks; it has 8");
  EXPECT_EQ(complaint(started("[[1,\"1\"]]")), "log:3: \"gpus\" is not a whole number from 0 to 0");
  EXPECT_EQ(complaint(started("[[0,\"xyz\"]]")),
            "log:3: \"xyz\" is not a hexadecimal mask of GPUs");
  EXPECT_EQ(complaint(started("[[0,\"1\"],[0,\"2\"]]")), "log:3: node 0 is named twice in a grant");
  EXPECT_NE(complaint("{\"t\":5,\"seq\":0,\"event\":\"submitted\",\"job\":99999999,\"spec\":{"
                      "\"submitted\":5,\"gpus\":1,\"iterations\":1,\"iteration_s\":1}}\n")
                .find("far beyond"),
            std::string::npos);
}

TEST(EventLogReader, APromiseIsGivenOnceAndBeforeTheEnd) {
  const auto admitted = [](int at) {
    return "{\"t\":" + std::to_string(at) +
           ",\"seq\":1,\"event\":\"admitted\",\"job\":0,\"promised\":9}\n";
  };
  const std::string rejected = "{\"t\":6,\"seq\":1,\"event\":\"rejected\",\"job\":0}\n";
  EXPECT_EQ(complaint(kSubmitted + admitted(5)), "");
  EXPECT_EQ(complaint(started("[[0,\"1\"]]") + admitted(6)), "");
  EXPECT_EQ(complaint(kSubmitted + admitted(5) + admitted(6)),
            "log:4: job 0 is admitted although it was so before");
  EXPECT_EQ(complaint(kSubmitted + rejected + admitted(6)),
            "log:4: job 0 is admitted although it has ended");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":6,\"seq\":1,\"event\":\"admitted\",\"job\":0}\n"),
            "log:3: \"promised\" is missing");
  EXPECT_EQ(complaint(kSubmitted + "{\"t\":6,\"seq\":1,\"event\":\"completed\",\"job\":0,"
                                   "\"finished\":7}\n"),
            "log:3: \"finished\" is after the event");
}

TEST(EventLogReader, CurvesAndDeadlinesThatMakeNoSenseAreNamed) {
  const auto with = [](const std::string& fields) {
    return complaint(
        "{\"t\":5,\"seq\":0,\"event\":\"submitted\",\"job\":0,\"spec\":{\"submitted\":5,\"gpus\":1,"
        "\"iterations\":1,\"iteration_s\":1," +
        fields + "}}\n");
  };
  EXPECT_EQ(with("\"curve\":0,\"speeds\":{\"points\":[[1,2],[2,3]],\"spreads\":[[2,2,1]]}"), "");
  EXPECT_EQ(with("\"curve\":0"), "log:2: \"curve\" has not been spelled out by \"speeds\" so far");
  EXPECT_EQ(with("\"curve\":0,\"speeds\":{\"points\":[[2,2],[2,3]]}"),
            "log:2: the GPUs of \"points\" do not rise");
  EXPECT_EQ(with("\"curve\":0,\"speeds\":{\"points\":[[1,0]]}"),
            "log:2: a speed in \"points\" is not a number above 0");
  EXPECT_EQ(with("\"curve\":0,\"speeds\":{\"points\":[[1]]}"),
            "log:2: an entry of \"points\" is not a list of 2 numbers");
  EXPECT_EQ(with("\"curve\":0,\"speeds\":{\"points\":[],\"spreads\":[[2,2,1],[2,1,1]]}"),
            "log:2: the GPUs and nodes of \"spreads\" do not rise");
  EXPECT_EQ(with("\"deadline\":9,\"deadline_kind\":\"firm\""),
            "log:2: unknown \"deadline_kind\" \"firm\"");
}

TEST_F(EventLog, SaysHowTheRunWasSetUp) {
  const TestRun run(1, 8);
  const RunDescription set_up{.policy = {.name = "srtf+tune",
                                         .options = {{"sticky", "false"}, {"boost", "10h"}},
                                         .seed = std::numeric_limits<std::uint64_t>::max(),
                                         .round = std::chrono::minutes(5)},
                              .semantics = SemanticsKind::Synergy,
                              .speed_error = 0.1,
                              .window = JobWindow{JobId{300}, JobId{500}},
                              .faults = FaultRules{.checkpoint_interval = std::chrono::minutes(30),
                                                   .checkpoint_cost = std::chrono::seconds(20),
                                                   .notice = std::chrono::minutes(2),
                                                   .on_demand_price = 2.5,
                                                   .spot_price = 0.1,
                                                   .on_demand_nodes = 3},
                              .jobs = 9000};
  auto writer = EventLogWriter::open(path("set-up.jsonl"), run.cluster, run.workload, set_up);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer.value()->finish().ok());
  const auto reader = EventLogReader::open(path("set-up.jsonl"));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader.value().run(), set_up);
  EXPECT_TRUE(is_event_log(path("set-up.jsonl")));
}

TEST_F(EventLog, ALogThatDoesNotSayHowTheRunWasSetUpIsReadAllTheSame) {
  const TestRun run = eventful();
  write(run, "old.jsonl");
  const auto reader = EventLogReader::open(path("old.jsonl"));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader.value().run(), RunDescription{});
}

TEST(EventLogReader, ASetUpThatMakesNoSenseIsNamed) {
  const auto complaint = [](const std::string& set_up) {
    std::istringstream stream(R"({"orrery_events":1,"run":)" + set_up +
                              R"(,"cluster":{"nodes":[{"gpus":8}]}})");
    const auto reader = EventLogReader::from(stream, "log");
    return reader.ok() ? "" : reader.error().message;
  };
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"orrery"})"), "");
  EXPECT_EQ(complaint("7"), "log:1: \"run\" is not an object");
  EXPECT_EQ(complaint("{}"), "log:1: \"policy\" is missing");
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"orrery","seed":-1})"),
            "log:1: \"seed\" is not a whole number");
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"orrery","options":{"a":1}})"),
            "log:1: option \"a\" is not a string");
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"other"})"),
            "log:1: there are no semantics 'other'; choose orrery, muri, elasticflow or synergy");
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"orrery","window":[4,4]})"),
            "log:1: \"window\" is not a whole number from 5 to 2147483647");
  EXPECT_EQ(complaint(R"({"policy":"fifo","semantics":"orrery","speed_error":"nan"})"),
            "log:1: \"speed_error\" is not a number from 0 to 1");
}

TEST(EventLogReader, TablesOfSensitivityThatMakeNoSenseAreNamed) {
  const auto complaint = [](const std::string& fields) {
    std::istringstream stream(
        R"({"orrery_events":1,"cluster":{"nodes":[{"gpus":8}]}})"
        "\n"
        R"({"t":0,"seq":0,"event":"submitted","job":0,"spec":{"name":"a","submitted":0,)"
        R"("gpus":1,"iterations":1,"iteration_s":1,"sensitivity":)" +
        fields + "}}");
    EventLogReader reader = EventLogReader::from(stream, "log").value();
    Event event;
    const auto more = reader.next(event);
    return more.ok() ? "" : more.error().message;
  };
  const std::string points = R"("cpu_milli":[1,2],"memory":[5])";
  EXPECT_EQ(complaint(R"(0,"host_speeds":{)" + points + R"(,"speed":[1,2],"ideal":[2,5]})"), "");
  EXPECT_EQ(complaint("3"),
            "log:2: \"sensitivity\" has not been spelled out by \"host_speeds\" so far");
  EXPECT_EQ(complaint(R"(0,"host_speeds":{)" + points + R"(,"speed":[1],"ideal":[2,5]})"),
            "log:2: \"speed\" is not as long as \"cpu_milli\" times \"memory\"");
  EXPECT_EQ(complaint(R"(0,"host_speeds":{)" + points + R"(,"speed":[1,0],"ideal":[2,5]})"),
            "log:2: a \"speed\" is not a number above 0");
  EXPECT_EQ(complaint(R"(0,"host_speeds":{"cpu_milli":[2,2],"memory":[5]})"),
            "log:2: the points of \"cpu_milli\" do not rise");
  EXPECT_EQ(complaint(R"(0,"host_speeds":{"cpu_milli":[],"memory":[5]})"),
            "log:2: \"cpu_milli\" has no points");
}

TEST(EventLogReader, SomethingElseIsNotTakenForALog) {
  for (const char* text : {"", "job_id,num_gpu\n", "{\"runs\":[]}\n", "{\"orrery_events\":2}\n"}) {
    std::istringstream stream(text);
    const auto opened = EventLogReader::from(stream, "x.csv");
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().message.substr(0, 8), "x.csv:1:");
  }
}

}  // namespace
}  // namespace orrery
