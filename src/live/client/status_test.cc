#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/grid.h"
#include "live/client/status_text.h"
#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

StatusAnswer two_jobs() {
  JobStatus running{.id = 17,
                    .name = "resnet50-imagenet-with-a-long-name",
                    .user = "ann",
                    .state = JobState::Running,
                    .gpus = 16,
                    .nodes = {"gpu-node-01", "gpu-node-02"},
                    .command = "python3 train.py",
                    .submitted_s = 1000,
                    .started_s = 1060};
  JobStatus waiting{.id = 10018,
                    .name = "bert",
                    .user = "bob",
                    .state = JobState::Pending,
                    .reason = "waits for 8 GPUs of type A100, of which 3 are free on two nodes",
                    .gpus = 8,
                    .submitted_s = 2000,
                    .predicted_start_s = 9000};
  return {.now_s = 5000, .policy = "fifo", .jobs = {running, waiting}, .pending = 1, .running = 1};
}

std::string status_table(const StatusAnswer& answer, int width) {
  return to_text(job_listing(answer), {}, width).value();
}

std::string status_json(const StatusAnswer& answer) {
  return to_text(job_listing(answer), {.json = true}, 0).value();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(StatusTable, NoLineIsWiderThanTheTerminal) {
  for (const int width : {40, 60, 80, 100, 120, 200}) {
    const auto lines = lines_of(status_table(two_jobs(), width));
    ASSERT_EQ(lines.size(), 4U);
    for (const std::string& line : lines) {
      EXPECT_LE(columns_of(line), static_cast<std::size_t>(width)) << line;
    }
    EXPECT_NE(lines[2].find("waits for 8"), std::string::npos) << width;
  }
}

TEST(StatusTable, AWideTerminalShowsEverything) {
  const std::string text = status_table(two_jobs(), 200);
  for (const char* part :
       {"id", "name", "user", "state", "gpus", "waited", "ran", "nodes", "why", "resnet50-imagenet",
        "gpu-node-01,gpu-node-02", "1:05:40", "1:00", "50:00",
        "on two nodes; starts in about "
        "1h06m",
        "1 pending, 1 running; policy fifo"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
}

TEST(StatusTable, EightyColumnsKeepStateAndReason) {
  const auto lines = lines_of(status_table(two_jobs(), 80));
  EXPECT_NE(lines[0].find("why"), std::string::npos);
  EXPECT_NE(lines[1].find("Running"), std::string::npos);
  EXPECT_EQ(lines[2].substr(lines[2].size() - 3), "…");
}

TEST(StatusTable, APausedJobWaitsAndDoesNotRun) {
  JobStatus job;
  job.id = 1;
  job.state = JobState::Paused;
  job.submitted_s = 1000;
  job.started_s = 1010;
  job.ran_s = 60;
  const std::string card = status_card(job, 1000 + 3600);
  EXPECT_NE(card.find("ran         1m00s"), std::string::npos) << card;
  EXPECT_NE(card.find("waited      59m00s"), std::string::npos) << card;
}

TEST(StatusTable, TimesAreShort) {
  EXPECT_EQ(short_duration(-3), "0s");
  EXPECT_EQ(short_duration(59.9), "59s");
  EXPECT_EQ(short_duration(725), "12m05s");
  EXPECT_EQ(short_duration(11220), "3h07m");
  EXPECT_EQ(short_duration(187200), "2d04h");
}

TEST(StatusJson, HasTheFieldsThatScriptsRelyOn) {
  const Json answer = Json::parse(status_json(two_jobs()));
  EXPECT_EQ(answer.size(), 1U);
  const Json& running = answer.at("jobs").at(0);
  EXPECT_EQ(running.at("id"), 17);
  EXPECT_EQ(running.at("state"), "Running");
  EXPECT_EQ(running.at("gpus"), 16);
  EXPECT_EQ(running.at("user"), "ann");
  EXPECT_EQ(running.at("submitted_s"), 1000);
  EXPECT_EQ(running.at("started_s"), 1060);
  for (const char* none : {"reason", "ended_s", "exit_code", "signal", "progress", "deadline_s"}) {
    EXPECT_TRUE(running.at(none).is_null()) << none;
  }
  EXPECT_EQ(answer["jobs"][1]["predicted_start_s"], 9000);
}

TEST(StatusJson, StatesAreSpelledAsTheContractHasThem) {
  const std::pair<JobState, const char*> states[] = {
      {JobState::Pending, "Pending"},     {JobState::Running, "Running"},
      {JobState::Paused, "Paused"},       {JobState::Done, "Done"},
      {JobState::Failed, "Failed"},       {JobState::Rejected, "Rejected"},
      {JobState::Cancelled, "Cancelled"},
  };
  for (const auto& [state, spelling] : states) {
    StatusAnswer answer;
    answer.jobs.emplace_back().state = state;
    EXPECT_EQ(Json::parse(status_json(answer))["jobs"][0]["state"], spelling);
  }
}

TEST(StatusCommand, OneJobIsACardWithItsForecast) {
  FakeCommandContext fake;
  fake.script.status = [](const StatusRequest& request) -> Result<StatusAnswer> {
    EXPECT_TRUE(request.predict);
    EXPECT_EQ(request.ids, std::vector<JobNumber>{10018});
    StatusAnswer answer = two_jobs();
    answer.jobs.erase(answer.jobs.begin());
    return answer;
  };
  ASSERT_TRUE(call(fake, {"status", "10018"}).ok());
  for (const char* part : {"job 10018  bert", "waits for 8 GPUs", "will start", "in about 1h06m",
                           "needs       8 GPUs"}) {
    EXPECT_NE(fake.out.find(part), std::string::npos) << part << '\n' << fake.out;
  }
}

TEST(StatusCommand, ANumberWithoutAJobIsAnErrorWithoutATable) {
  FakeCommandContext fake;
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> { return StatusAnswer{}; };
  const Status status = call(fake, {"status", "99"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::NotFound);
  EXPECT_EQ(fake.out, "");
}

TEST(StatusCommand, EndedJobsAreListedWhenAskedForAndInJson) {
  FakeCommandContext fake;
  std::vector<bool> finished;
  fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
    finished.push_back(request.finished);
    return StatusAnswer{};
  };
  ASSERT_TRUE(call(fake, {"status"}).ok());
  ASSERT_TRUE(call(fake, {"status", "--all"}).ok());
  ASSERT_TRUE(call(fake, {"status", "--json"}).ok());
  EXPECT_EQ(finished, (std::vector<bool>{false, true, true}));
  EXPECT_TRUE(fake.out.ends_with("{\"jobs\":[]}\n"));
  EXPECT_FALSE(call(fake, {"status", "17", "--all"}).ok());
  EXPECT_FALSE(call(fake, {"status", "seventeen"}).ok());
  EXPECT_FALSE(call(fake, {"status", "--watch", "--json"}).ok());
  EXPECT_FALSE(call(fake, {"status", "--watch", "--output", "csv"}).ok());
}

TEST(StatusCommand, FiltersSortsAndLimits) {
  FakeCommandContext fake;
  fake.context.login = "ann";
  StatusRequest seen;
  fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
    seen = request;
    StatusAnswer answer = two_jobs();
    answer.jobs.push_back({.id = 20000, .name = "resnet18", .user = "ann", .submitted_s = 1500});
    return answer;
  };
  const auto ids = [&](std::vector<std::string> words) {
    fake.out.clear();
    words.insert(words.begin(), "status");
    words.insert(words.end(), {"--output", "template={{id}}"});
    const Status done = call(fake, words);
    return done.ok() ? fake.out : done.error().message;
  };
  EXPECT_EQ(ids({}), "17\n10018\n20000\n");
  EXPECT_EQ(ids({"--state", "PENDING"}), "10018\n20000\n");
  EXPECT_FALSE(seen.finished);
  EXPECT_EQ(ids({"--state", "pending,running", "--name", "resnet*"}), "17\n20000\n");
  EXPECT_EQ(ids({"--state", "running", "--state", "done"}), "17\n");
  EXPECT_TRUE(seen.finished);
  EXPECT_EQ(ids({"--user", "b*"}), "10018\n");
  EXPECT_EQ(seen.user, "");
  ids({"--user", "me"});
  EXPECT_EQ(seen.user, "ann") << "the scheduler leaves out the others";
  EXPECT_EQ(ids({"--sort", "-submitted"}), "10018\n20000\n17\n");
  EXPECT_EQ(ids({"--sort", "-submitted", "--limit", "2"}), "10018\n20000\n");
  EXPECT_EQ(ids({"--name", "*", "--limit", "2"}), "10018\n20000\n") << "the newest";
  ids({"--limit", "2"});
  EXPECT_EQ(seen.limit, 2);
  EXPECT_NE(ids({"17", "--name", "x"}).find("or the numbers"), std::string::npos);
  EXPECT_NE(ids({"--limit", "-1"}).find("--limit"), std::string::npos);
}

TEST(StatusCommand, AStateIsAFilterAndAnythingElseADirectory) {
  FakeCommandContext fake;
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> { return two_jobs(); };
  const StateFolder state;
  ASSERT_TRUE(call(fake, {"status", "--state", "running", "--state", state.path(), "--output",
                          "template={{id}}"})
                  .ok());
  EXPECT_EQ(fake.out, "17\n");
  EXPECT_EQ(fake.reached.socket, state.file("socket"));
}

TEST(WaitIdle, ReturnsWhenNothingIsLeft) {
  FakeCommandContext fake;
  fake.script.status = [&](const StatusRequest&) -> Result<StatusAnswer> {
    StatusAnswer answer;
    answer.pending = fake.now < std::chrono::seconds(20) ? 2 : 0;
    answer.settling = fake.now < std::chrono::seconds(25) ? 1 : 0;
    return answer;
  };
  EXPECT_TRUE(call(fake, {"status", "--wait-idle", "60s"}).ok());
  EXPECT_GE(fake.now, std::chrono::seconds(25));
  EXPECT_LT(fake.now, std::chrono::seconds(40));
}

TEST(WaitIdle, ListsTheJobsIfAskedForAll) {
  FakeCommandContext fake;
  fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
    StatusAnswer answer;
    if (request.finished) answer.jobs.push_back({.id = 7, .name = "a", .state = JobState::Done});
    return answer;
  };
  EXPECT_TRUE(call(fake, {"status", "--wait-idle", "60s"}).ok());
  EXPECT_EQ(fake.out, "");
  EXPECT_TRUE(call(fake, {"status", "--wait-idle", "60s", "--all"}).ok());
  EXPECT_NE(fake.out.find("Done"), std::string::npos) << fake.out;
}

TEST(WaitIdle, GivesUpAfterTheTimeItWasGiven) {
  FakeCommandContext fake;
  fake.script.status = [&](const StatusRequest&) -> Result<StatusAnswer> {
    return StatusAnswer{.pending = 3, .running = 1};
  };
  const Status late = call(fake, {"status", "--wait-idle", "60s"});
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().code, Code::InvalidArgument);
  EXPECT_EQ(late.error().message, "not idle after 1m: 3 pending, 1 running, 0 settling");
  EXPECT_GE(fake.now, std::chrono::seconds(60));
  EXPECT_LT(fake.now, std::chrono::seconds(62));
  const Status wrong = call(fake, {"status", "--wait-idle", "soon"});
  EXPECT_NE(wrong.error().message.find("--wait-idle: 'soon'"), std::string::npos);
}

TEST(Watch, DrawsAgainUntilInterrupted) {
  FakeCommandContext fake;
  fake.context.terminal = true;
  fake.interrupt_at = std::chrono::seconds(7);
  int draws = 0;
  fake.script.status = [&](const StatusRequest&) -> Result<StatusAnswer> {
    ++draws;
    return two_jobs();
  };
  EXPECT_TRUE(call(fake, {"status", "--watch"}).ok());
  EXPECT_EQ(draws, 4);
  EXPECT_TRUE(fake.out.starts_with("\x1b[H\x1b[2J"));
}

}  // namespace
}  // namespace orrery
