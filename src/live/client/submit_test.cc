#include <gtest/gtest.h>
#include <signal.h>

#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

const Error kUnreachable{Code::Unavailable, "no answer"};

// Takes every job, numbering them from 17 on.
void take_all(FakeCommandContext& fake, std::vector<SubmitRequest>& seen) {
  fake.script.submit =
      [&seen, next = JobNumber{17}](const SubmitRequest& request) mutable -> Result<SubmitAnswer> {
    seen.push_back(request);
    const auto count =
        static_cast<std::int64_t>(std::max<std::size_t>(1, request.job.array.size()));
    const SubmitAnswer answer{.first = next, .count = count};
    next += count;
    return answer;
  };
}

JobStatus job(JobNumber id, JobState state) {
  JobStatus status;
  status.id = id;
  status.state = state;
  return status;
}

TEST(Submit, AJobIsItsProgramAndWhatWasSaid) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  const Status done = call(fake,
                           {"submit", "--gpus", "2", "--memory", "16G", "--deadline", "2h",
                            "--soft", "--priority", "-5", "--env", "A=[1,2]", "--env", "SECRET"},
                           {"python3", "t.py", "--lr", "[0.1,1]", "--"});
  ASSERT_TRUE(done.ok()) << done.error().message;
  EXPECT_EQ(fake.out, "job 17\n");
  EXPECT_EQ(fake.reached.address, "127.0.0.1:7077");
  ASSERT_EQ(seen.size(), 1U);
  const JobRequest& job = seen[0].job;
  EXPECT_EQ(job.argv, (std::vector<std::string>{"python3", "t.py", "--lr", "[0.1,1]", "--"}));
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.memory_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(job.deadline, Duration(std::chrono::hours(2)));
  EXPECT_TRUE(job.deadline_is_soft);
  EXPECT_EQ(job.priority, -5);
  EXPECT_EQ(job.directory, "/home/ann/work");
  EXPECT_EQ(job.environment,
            (decltype(job.environment){
                {"A", "[1,2]"}, {"HOME", "/home/ann"}, {"SECRET", "hush"}, {"USER", "ann"}}));
}

TEST(Submit, WarningsGoToStandardErrorOrIntoTheObject) {
  FakeCommandContext fake;
  std::string errors;
  fake.context.print_error = [&](std::string_view line) { errors += std::string(line) + "\n"; };
  fake.script.submit = [](const SubmitRequest&) -> Result<SubmitAnswer> {
    return SubmitAnswer{.first = 17, .count = 1, .warnings = {"the policy las ignores it"}};
  };
  fake.script.status = [](const StatusRequest& request) -> Result<StatusAnswer> {
    StatusAnswer answer;
    answer.jobs = {job(request.ids.at(0), JobState::Rejected)};
    answer.jobs[0].reason = "refused: not even alone could it be done in time";
    return answer;
  };
  ASSERT_TRUE(call(fake, {"submit", "--deadline", "1h"}, {"train"}).ok());
  EXPECT_EQ(fake.out, "job 17\n");
  EXPECT_EQ(errors,
            "warning: the policy las ignores it\n"
            "warning: job 17 is refused: not even alone could it be done in time\n");
  errors.clear();
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"submit", "--json"}, {"train"}).ok());
  EXPECT_EQ(fake.out, "{\"id\":17,\"warnings\":[\"the policy las ignores it\"]}\n");
  EXPECT_EQ(errors, "");
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// The environment that a job gets; none: it was refused.
std::optional<Pairs> exported(std::vector<std::string> words) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  words.insert(words.begin(), "submit");
  if (!call(fake, words, {"a"}).ok() || seen.size() != 1) return {};
  Pairs environment = seen[0].job.environment;
  // How the call of a test finds its scheduler.
  std::erase_if(environment, [](const auto& pair) { return pair.first == "ORRERY_STATE"; });
  return environment;
}

// The caller has HOME, USER and SECRET.
TEST(Submit, ExportSaysWhichVariablesAJobGetsAsSbatchDoes) {
  const Pairs usual = {{"HOME", "/home/ann"}, {"USER", "ann"}};
  EXPECT_EQ(exported({}), usual);
  EXPECT_EQ(exported({"--export", "ALL"}),
            (Pairs{{"HOME", "/home/ann"}, {"SECRET", "hush"}, {"USER", "ann"}}));
  EXPECT_EQ(exported({"--export", "NONE"}), Pairs{});
  EXPECT_EQ(exported({"--export", "SECRET,SEED=7,EMPTY="}),
            (Pairs{{"EMPTY", ""}, {"SECRET", "hush"}, {"SEED", "7"}}));
  EXPECT_EQ(exported({"--export", "ALL,USER=bob"}),
            (Pairs{{"HOME", "/home/ann"}, {"SECRET", "hush"}, {"USER", "bob"}}));
  EXPECT_EQ(exported({"--export", "NONE", "--env", "LIST=1,2"}), (Pairs{{"LIST", "1,2"}}));
  for (const char* wrong : {"MISSING", "", "A,,B", "=x", "NONE,HOME"}) {
    EXPECT_FALSE(exported({"--export", wrong})) << wrong;
  }
}

TEST(Submit, ATimeLimitHasAnEarlySignal) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  ASSERT_TRUE(call(fake, {"submit", "--time-limit", "2h", "--signal", "USR1@90s"}, {"a"}).ok());
  ASSERT_TRUE(call(fake, {"submit", "--time-limit", "2h", "--signal", "SIGINT"}, {"a"}).ok());
  ASSERT_TRUE(call(fake, {"submit", "--time-limit", "2h", "--signal", "34@1m"}, {"a"}).ok());
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].job.time_limit, Duration(std::chrono::hours(2)));
  EXPECT_EQ(seen[0].job.signal, SIGUSR1);
  EXPECT_EQ(seen[0].job.signal_before, Duration(std::chrono::seconds(90)));
  EXPECT_EQ(seen[1].job.signal, SIGINT);
  EXPECT_EQ(seen[1].job.signal_before, Duration(std::chrono::seconds(60)));
  EXPECT_EQ(seen[2].job.signal, 34);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"submit", "--signal", "USR1@90s"},
        {"submit", "--time-limit", "2h", "--signal", "USR9"},
        {"submit", "--time-limit", "2h", "--signal", "65"},
        {"submit", "--time-limit", "2h", "--signal", "INT@soon"},
        {"submit", "--time-limit", "0"},
        {"submit", "--time-limit", "1h", "--time", "2h"}}) {
    EXPECT_FALSE(call(fake, wrong, {"a"}).ok()) << wrong.back();
  }
}

TEST(Submit, AnOutputPatternThatDoesNotExistIsRefused) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  ASSERT_TRUE(call(fake, {"submit", "--output", "out/%x-%j.%r", "--error", "%j.err"}, {"a"}).ok());
  EXPECT_EQ(seen[0].job.output, "/home/ann/work/out/%x-%j.%r");
  EXPECT_EQ(seen[0].job.errors, "/home/ann/work/%j.err");
  EXPECT_FALSE(call(fake, {"submit", "--output", "%q"}, {"a"}).ok());
  EXPECT_FALSE(call(fake, {"submit", "--error", "%a"}, {"a"}).ok());
}

TEST(Submit, AnArrayIsPrintedFromItsFirstToItsLast) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  ASSERT_TRUE(call(fake, {"submit", "--array", "1-100"}, {"a"}).ok());
  ASSERT_TRUE(call(fake, {"submit", "--array", "1,5", "--json"}, {"a"}).ok());
  ASSERT_TRUE(call(fake, {"submit", "--json"}, {"a"}).ok());
  EXPECT_EQ(fake.out, "jobs 17 to 116\n{\"id\":117,\"count\":2}\n{\"id\":119}\n");
}

TEST(Submit, ALostAnswerIsAskedForAgainWithTheSameKey) {
  FakeCommandContext fake;
  std::vector<std::string> keys;
  fake.script.submit = [&](const SubmitRequest& request) -> Result<SubmitAnswer> {
    keys.push_back(request.key);
    if (keys.size() < 4) return kUnreachable;
    return SubmitAnswer{.first = 3, .count = 1};
  };
  ASSERT_TRUE(call(fake, {"submit"}, {"a"}).ok());
  EXPECT_EQ(keys, std::vector<std::string>(4, "key1"));
  ASSERT_EQ(fake.pauses.size(), 3U);
  EXPECT_LT(fake.pauses[0], fake.pauses[1]);
  EXPECT_LT(fake.pauses[1], fake.pauses[2]);
  ASSERT_TRUE(call(fake, {"submit"}, {"a"}).ok());
  EXPECT_EQ(keys.back(), "key2") << "another submission is another job";
}

TEST(Submit, ASchedulerThatStaysAwayIsAnErrorAndARefusalIsNotAskedAgain) {
  FakeCommandContext fake;
  int asked = 0;
  Error answer = kUnreachable;
  fake.script.submit = [&](const SubmitRequest&) -> Result<SubmitAnswer> {
    ++asked;
    return answer;
  };
  EXPECT_EQ(call(fake, {"submit"}, {"a"}).error().code, Code::Unavailable);
  EXPECT_EQ(asked, 6);
  answer = {Code::ResourceExhausted, "too many"};
  asked = 0;
  EXPECT_EQ(call(fake, {"submit"}, {"a"}).error().message, "too many");
  EXPECT_EQ(asked, 1);
}

TEST(Submit, WhatIsSaidWrongNeverReachesTheScheduler) {
  const struct {
    std::vector<std::string> options;
    std::vector<const char*> says;
  } calls[] = {
      {{"--gpus", "0"}, {"--gpus: '0'", "between 1"}},
      {{"--gpus", "two"}, {"--gpus: 'two'"}},
      {{"--cpus", "none"}, {"--cpus: 'none'", "0.5"}},
      {{"--memory", "16"}, {"--memory: '16'", "16G"}},
      {{"--deadline", "tomorrow"}, {"--deadline: 'tomorrow'", "2h"}},
      {{"--time", "x"}, {"--time: 'x'"}},
      {{"--grace", "2d"}, {"grace"}},
      {{"--priority", "1001"}, {"--priority: '1001'", "1000"}},
      {{"--elastic", "4"}, {"--elastic: '4'", "1..8"}},
      {{"--array", "9-1"}, {"--array: '9-1'", "1-100"}},
      {{"--after", "train"}, {"--after: 'train'", "17"}},
      {{"--retries", "-1"}, {"--retries: '-1'"}},
      {{"--per", "rank"}, {"--per: 'rank'", "node"}},
      {{"--soft"}, {"soft: there is no deadline"}},
      {{"--env", "UNSET"}, {"UNSET is not set here"}},
      {{"--env", "=1"}, {"write NAME=VALUE"}},
      {{"--name", ""}, {"--name"}},
      {{"--gpu", "2"}, {"no option --gpu", "did you mean --gpus?"}},
      {{"--cpu=2"}, {"no option --cpu=2", "did you mean --cpus?"}},
      {{"train.sh"}, {"'train.sh': write the program after --"}},
      {{"--file", "/nowhere/job.toml"}, {"/nowhere/job.toml: cannot be read"}},
  };
  for (const auto& wrong : calls) {
    FakeCommandContext fake;
    std::vector<std::string> words = {"submit"};
    words.insert(words.end(), wrong.options.begin(), wrong.options.end());
    const Status refused = call(fake, words, {"a"});
    ASSERT_FALSE(refused.ok()) << wrong.options[0];
    EXPECT_EQ(refused.error().code, Code::InvalidArgument) << refused.error().message;
    for (const char* part : wrong.says) {
      EXPECT_NE(refused.error().message.find(part), std::string::npos) << refused.error().message;
    }
  }
  FakeCommandContext fake;
  EXPECT_NE(call(fake, {"submit"}).error().message.find("after --"), std::string::npos);
}

TEST(Submit, TheCommandLineWinsOverTheFile) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  const StateFolder folder;
  const std::string file =
      folder.write("job.toml", "command = [\"a\"]\ngpus = 2\nname = \"x\"\nenv = { A = 1 }\n");
  ASSERT_TRUE(call(fake, {"submit", "--file", file, "--gpus", "4", "--env", "A=2"}).ok());
  EXPECT_EQ(seen[0].job.gpus, 4);
  EXPECT_EQ(seen[0].job.name, "x");
  EXPECT_EQ(seen[0].job.argv, std::vector<std::string>{"a"});
  EXPECT_EQ(seen[0].job.environment.front().second, "2");
}

TEST(Submit, JobsOfAFileWaitForTheNumbersOfThoseTheyName) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  const StateFolder folder;
  const std::string file = folder.write("graph.toml", R"(
[[job]]
name = "collect"
command = ["c"]
after = ["parts", 3]
[[job]]
name = "parts"
command = ["p"]
array = "1-3"
)");
  ASSERT_TRUE(call(fake, {"submit", "--file", file, "--json"}).ok());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].job.after, (std::vector<JobNumber>{3, 17, 18, 19}));
  EXPECT_NE(seen[0].key, seen[1].key);
  EXPECT_EQ(fake.out,
            "{\"jobs\":[{\"id\":17,\"count\":3,\"name\":\"parts\"},{\"id\":20,\"name\":"
            "\"collect\"}]}\n");
  const Status named = call(fake, {"submit", "--file", file, "--name", "x"});
  EXPECT_NE(named.error().message.find("has 2 jobs"), std::string::npos);
}

TEST(Submit, JobsThatWereTakenBeforeARefusalArePrinted) {
  FakeCommandContext fake;
  int calls = 0;
  fake.script.submit = [&](const SubmitRequest&) -> Result<SubmitAnswer> {
    if (++calls == 2) return Error{Code::ResourceExhausted, "the queue is full"};
    return SubmitAnswer{.first = 5, .count = 1};
  };
  const StateFolder folder;
  const std::string file =
      folder.write("two.toml", "command = [\"a\"]\n[[job]]\nname = \"x\"\n[[job]]\nname = \"y\"\n");
  const Status done = call(fake, {"submit", "--file", file});
  EXPECT_EQ(done.error().message, "the queue is full");
  EXPECT_EQ(fake.out, "job 5  x\n");
}

TEST(SubmitWait, EndsWithTheJobAndSaysHow) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  int looks = 0;
  fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
    EXPECT_EQ(request.ids, std::vector<JobNumber>{17});
    JobStatus status = job(17, ++looks < 3 ? JobState::Running : JobState::Failed);
    status.started_s = 100;
    status.ended_s = 112;
    status.exit_code = 3;
    return StatusAnswer{.jobs = {status}};
  };
  const Status done = call(fake, {"submit", "--wait"}, {"a"});
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().code, Code::InvalidArgument) << "the call was not wrong";
  EXPECT_EQ(done.error().message, "job 17 Failed after 12s: exit code 3");
  EXPECT_EQ(fake.out, "job 17\n") << "the error says how it ended, once";
  EXPECT_EQ(looks, 3);
}

TEST(SubmitWait, HandsOnTheExitCodeOfTheJob) {
  const auto code_of = [](const std::vector<JobStatus>& ends) {
    FakeCommandContext fake;
    std::vector<SubmitRequest> seen;
    take_all(fake, seen);
    int code = -1;
    fake.context.exit_with = [&](int said) { code = said; };
    fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
      StatusAnswer answer{.jobs = ends};
      for (std::size_t i = 0; i < ends.size(); ++i) answer.jobs[i].id = request.ids[i];
      return answer;
    };
    const Status done =
        call(fake, {"submit", "--wait", "--array", "1-" + std::to_string(ends.size())}, {"a"});
    EXPECT_EQ(done.ok(), code == -1);
    return code;
  };
  const JobStatus good{.state = JobState::Done, .exit_code = 0};
  EXPECT_EQ(code_of({good}), -1) << "0";
  EXPECT_EQ(code_of({{.state = JobState::Failed, .exit_code = 3}}), 3);
  EXPECT_EQ(code_of({{.state = JobState::Failed, .signal = 9}}), 137);
  EXPECT_EQ(code_of({{.state = JobState::Cancelled}}), 1);
  EXPECT_EQ(code_of({{.state = JobState::Cancelled, .exit_code = 0}}), 1);
  EXPECT_EQ(code_of({{.state = JobState::Rejected}}), 1);
  EXPECT_EQ(code_of({good, {.state = JobState::Failed, .exit_code = 4}, good}), 4);
}

TEST(Submit, ADashIsAJobFileOnStandardInput) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  fake.input = "command = [\"a\", \"b\"]\ngpus = 2\n";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"submit", "-"}, {"submit", "--file", "-"}}) {
    ASSERT_TRUE(call(fake, words).ok()) << words[1];
    EXPECT_EQ(seen.back().job.argv, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(seen.back().job.gpus, 2);
  }
  fake.input = "gpus = 2\ngpus = 3\n";
  const Status wrong = call(fake, {"submit", "-"});
  EXPECT_EQ(wrong.error().message.find("standard input:2"), 0U) << wrong.error().message;
  EXPECT_FALSE(call(fake, {"submit", "-", "--file", "x.toml"}).ok());
}

TEST(SubmitWait, IsQuietWhileNothingHappens) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  int looks = 0;
  fake.script.status = [&](const StatusRequest&) -> Result<StatusAnswer> {
    ++looks;
    const bool over = fake.now >= std::chrono::minutes(10);
    return StatusAnswer{.jobs = {job(17, over ? JobState::Done : JobState::Running)}};
  };
  ASSERT_TRUE(call(fake, {"submit", "--wait", "--json"}, {"a"}).ok());
  EXPECT_EQ(fake.out, "{\"id\":17}\n");
  EXPECT_LE(looks, 62) << "one look in ten seconds";
  EXPECT_LE(fake.events_calls, 610) << "one call a second";
}

TEST(SubmitWait, NewsAreLookedAtAtOnceButNotAllTheTime) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  fake.script.events = [](const EventsRequest&) -> Result<EventsAnswer> {
    return EventsAnswer{.lines = {"{}"}, .next = 9};
  };
  int looks = 0;
  fake.script.status = [&](const StatusRequest&) -> Result<StatusAnswer> {
    ++looks;
    const bool over = fake.now >= std::chrono::seconds(2);
    return StatusAnswer{.jobs = {job(17, over ? JobState::Done : JobState::Running)}};
  };
  ASSERT_TRUE(call(fake, {"submit", "--wait"}, {"a"}).ok());
  EXPECT_GE(looks, 20);
  EXPECT_LE(looks, 42) << "twenty a second";
}

TEST(SubmitWait, AnInterruptLeavesTheJobAlone) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  fake.interrupt_at = std::chrono::seconds(3);
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> {
    return StatusAnswer{.jobs = {job(17, JobState::Running)}};
  };
  const Status done = call(fake, {"submit", "--wait"}, {"a"});
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().message.find("job 17 left alone"), std::string::npos);
  EXPECT_LT(fake.now, std::chrono::seconds(5));
}

TEST(SubmitWait, ARestartOfTheSchedulerIsWaitedOut) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  int looks = 0;
  fake.script.status = [&](const StatusRequest& request) -> Result<StatusAnswer> {
    if (++looks < 4) return kUnreachable;
    StatusAnswer answer;
    for (const JobNumber id : request.ids) answer.jobs.push_back(job(id, JobState::Done));
    return answer;
  };
  fake.script.events = [](const EventsRequest&) -> Result<EventsAnswer> { return kUnreachable; };
  EXPECT_TRUE(call(fake, {"submit", "--wait", "--array", "1-3"}, {"a"}).ok());
  EXPECT_EQ(looks, 4);
}

TEST(SubmitWait, AJobThatIsNoLongerKnownEndsTheWaiting) {
  FakeCommandContext fake;
  std::vector<SubmitRequest> seen;
  take_all(fake, seen);
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> { return StatusAnswer{}; };
  EXPECT_EQ(call(fake, {"submit", "--wait"}, {"a"}).error().code, Code::NotFound);
}

}  // namespace
}  // namespace orrery
