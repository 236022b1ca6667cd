#include "live/daemon/log/entry.h"

#include <gtest/gtest.h>

#include "model/cluster.h"

namespace orrery {
namespace {

JobRequest full_request() {
  return {.argv = {"/bin/train", "--lr", "0.1", "weird \"quotes\" \n"},
          .environment = {{"A", "b=c"}, {"EMPTY", ""}},
          .directory = "/home/ann",
          .name = "näme",
          .user = "ann",
          .tenant = "vision",
          .gpus = 4,
          .gpus_min = 2,
          .gpus_max = 8,
          .cpu_milli = 12'500,
          .memory_bytes = std::int64_t{1} << 40,
          .gpu_type = "A100",
          .model = "resnet50",
          .expected = std::chrono::hours(3),
          .start_cost = std::chrono::seconds(20),
          .deadline = std::chrono::hours(8),
          .deadline_is_soft = true,
          .priority = -3,
          .after = {1, 2},
          .retries = 4,
          .process_per_gpu = true,
          .grace = std::chrono::seconds(5),
          .output = "/tmp/out",
          .checkpoint_directory = "/tmp/ck",
          .array = {1, 5, 9}};
}

std::vector<Entry> one_of_each() {
  const ChosenPolicy policy{.name = "las",
                            .options = {{"levels", "3"}, {"quote\"", "x"}},
                            .seed = 17,
                            .round = std::chrono::seconds(60)};
  Decided held{.kind = EventKind::Started,
               .job = 7,
               .devices = {{"n1", 0xff}, {"n 2", std::uint64_t{1} << 63}},
               .cpu_milli = 1500,
               .memory_bytes = 5,
               .sharing = Sharing::Interleaved,
               .group = 3,
               .position = 2,
               .iterations_per_s = 0.1 + 0.2,
               .ready = Time(Duration(123)),
               .work_left = 1.0 / 3};
  Decided queued{.kind = EventKind::Queued,
                 .job = 8,
                 .reason = {.code = Reason::Code::Promised,
                            .wanted = 4,
                            .available = 1,
                            .from = Time(Duration(5)),
                            .until = Time(Duration(9)),
                            .earliest = kNever},
                 .reason_other = 3};
  return {EraBegan{.unix_ns = 1'790'000'000'000'000'000},
          TermBegan{.term = 4, .policy = policy},
          PolicyChanged{.policy = policy, .by = "root"},
          Submitted{.first = 12, .request = full_request(), .key = "ann/1"},
          Submitted{.first = 15, .request = {.argv = {"true"}}},
          CancelAsked{.job = 3, .by = "ann"},
          NodeJoined{.offer = {.name = "n1",
                               .address = "10.0.0.1",
                               .gpus = 8,
                               .cpu_milli = 96'000,
                               .memory_bytes = 1,
                               .gpu_memory_bytes = 2,
                               .gpu_type = "H100",
                               .zone = "us-east1-c",
                               .losses_per_day = 0.25},
                     .instance = "abc"},
          NodeTurned{
              .node = "n1", .state = NodeState::Lost, .draining = true, .clears = true, .by = "op"},
          NodeTurned{.node = "n1", .state = NodeState::Removed, .by = "root"},
          LaunchEnded{.launch = {.job = 3, .epoch = 2, .rank = 1},
                      .end = {.kind = JobEnd::Kind::Signalled, .signal = 9, .message = "why"}},
          LaunchEnded{.launch = {.job = 3, .epoch = 2, .rank = 0},
                      .end = {.kind = JobEnd::Kind::Exited, .exit_code = 0}},
          Progressed{.job = 5, .iteration = 10, .iterations = 100.5, .checkpointed = 8},
          QuotaSet{.tenant = "vision", .gpus = 0, .borrows = false, .by = "root"},
          QuotaSet{.tenant = "vision", .by = "root"},
          MembersSet{.tenant = "vision", .members = {{"@lab", "ann"}}, .by = "root"},
          MembersSet{.tenant = "vision", .members = {{}}},
          MembersSet{.tenant = "vision"},
          LimitsSet{.scope = LimitScope::Tenant,
                    .name = "vision",
                    .limits = {.priority = -5, .gpus = 0, .pending = kNoLimit, .submissions = 7},
                    .by = "root"},
          LimitsSet{.scope = LimitScope::EachUser},
          TokenKept{.id = "x", .line = "a b c"},
          RoundHeld{},
          held,
          queued,
          Decided{.kind = EventKind::Completed, .job = 9, .finished = Time(Duration(77))}};
}

TEST(Entry, IsReadBackAsItWasWritten) {
  for (const Entry& entry : one_of_each()) {
    const Record record = to_record(entry, Time(Duration(42)));
    EXPECT_TRUE(check(record).ok());
    const auto read = read_entry(record);
    ASSERT_TRUE(read.ok()) << record.kind << record.body << read.error().message;
    EXPECT_EQ(read.value(), entry) << record.kind << " " << record.body;
    EXPECT_EQ(record.time, Time(Duration(42)));
  }
}

TEST(Entry, ThatIsDamagedNamesItsPlaceInTheLog) {
  for (const Entry& entry : one_of_each()) {
    Record record = to_record(entry, Time());
    record.sequence = 99;
    record.body = "[1]";
    const auto read = read_entry(record);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code, Code::DataLoss);
    EXPECT_NE(read.error().message.find("99"), std::string::npos) << read.error().message;
  }
  Record record{.sequence = 3, .kind = "sneezed", .job = 4, .body = "{}"};
  EXPECT_FALSE(read_entry(record).ok());
}

TEST(Entry, WithAWrongFieldIsRefused) {
  const auto refused = [](std::string kind, std::string body, int job = 1) {
    return !read_entry({.kind = std::move(kind), .job = job, .body = std::move(body)}).ok();
  };
  EXPECT_TRUE(refused("started", "{}"));
  EXPECT_TRUE(refused("started", R"({"gpus":[["n1","0"]]})"));
  EXPECT_TRUE(refused("started", R"({"gpus":[["n1","xyz"]]})"));
  EXPECT_TRUE(refused("started", R"({"gpus":[[1,"1"]]})"));
  EXPECT_TRUE(refused("started", R"({"gpus":[["n1","1"]],"sharing":"half"})"));
  EXPECT_TRUE(refused("queued", R"({"reason":"mood"})"));
  EXPECT_TRUE(refused("queued", "{}", -1));
  EXPECT_TRUE(refused("node", R"({"node":"n","gpus":65})"));
  EXPECT_TRUE(refused("node-state", R"({"node":"n","state":"asleep"})"));
  EXPECT_TRUE(refused("ended", R"({"end":"vanished"})"));
  EXPECT_TRUE(refused("submitted", R"({"request":{"gpus":1.5}})"));
  EXPECT_TRUE(refused("submitted", R"({"request":{"gpus":99999999999}})"));
  EXPECT_TRUE(refused("quota", R"({"tenant":"a","gpus":-1})"));
  EXPECT_TRUE(refused("members", R"({"tenant":"a","members":[1]})"));
  EXPECT_TRUE(refused("limits", R"({"scope":"planet","name":"a"})"));
  EXPECT_TRUE(refused("limits", R"({"scope":"user","name":"a","gpus":-2})"));
  EXPECT_TRUE(refused("limits", R"({"scope":"user","name":"a","priority":1.5})"));
  EXPECT_TRUE(refused("term", R"({"term":1,"policy":"las","options":{"a":1}})"));
}

TEST(Entry, ANumberOfAJobMayExceed32Bits) {
  const JobNumber number = 5'000'000'001;
  const Entry entry = CancelAsked{.job = number, .by = "ann"};
  const auto read = read_entry(to_record(entry, Time()));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(std::get<CancelAsked>(read.value()).job, number);
}

}  // namespace
}  // namespace orrery
