#include "live/client/commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "live/client/event_text.h"
#include "live/client/live_variants.h"
#include "live/client/testing/test_call.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

std::string message(const Status& status) { return status.ok() ? "" : status.error().message; }

TEST(Logs, OfSeveralJobsHaveHeadsAndCannotBeFollowed) {
  FakeCommandContext fake;
  fake.script.logs = [](const LogsRequest& request) -> Result<LogsAnswer> {
    return LogsAnswer{.bytes = "out " + std::to_string(request.id) + "\n", .ended = true};
  };
  ASSERT_TRUE(call(fake, {"logs", "3-4"}).ok());
  EXPECT_EQ(fake.out, "==> job 3 <==\nout 3\n\n==> job 4 <==\nout 4\n");
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"logs", "3", "--json"}).ok());
  EXPECT_EQ(fake.out, "{\"id\":3,\"rank\":0,\"text\":\"out 3\\n\"}\n");
  EXPECT_NE(message(call(fake, {"logs", "-f", "3", "4"})).find("one job at a time"),
            std::string::npos);
}

TEST(Logs, ArePagedToTheirEnd) {
  FakeCommandContext fake;
  std::vector<std::int64_t> offsets;
  fake.script.logs = [&](const LogsRequest& request) -> Result<LogsAnswer> {
    EXPECT_EQ(request.rank, 2);
    offsets.push_back(request.offset);
    if (request.offset == 8) return LogsAnswer{.next = 8};
    return LogsAnswer{.bytes = "1234", .next = std::max<std::int64_t>(0, request.offset) + 4};
  };
  ASSERT_TRUE(call(fake, {"logs", "17", "--rank", "2"}).ok());
  EXPECT_EQ(fake.out, "12341234");
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{0, 4, 8}));
  offsets.clear();
  ASSERT_TRUE(call(fake, {"logs", "17", "--rank", "2", "--tail", "100"}).ok());
  EXPECT_LT(offsets.front(), 0);
}

TEST(Logs, ATailIsTheLastLinesAndNothingBefore) {
  FakeCommandContext fake;
  std::string log;
  for (int i = 1; i <= 100'000; ++i) log += "line " + std::to_string(i) + "\n";
  std::int64_t sent = 0;
  fake.script.logs = [&](const LogsRequest& request) -> Result<LogsAnswer> {
    const auto size = std::ssize(log);
    const auto from = static_cast<std::size_t>(
        std::max<std::int64_t>(0, request.offset < 0 ? size + request.offset : request.offset));
    LogsAnswer answer{.bytes = log.substr(from, static_cast<std::size_t>(request.most))};
    answer.next = static_cast<std::int64_t>(from + answer.bytes.size());
    sent += std::ssize(answer.bytes);
    return answer;
  };
  ASSERT_TRUE(call(fake, {"logs", "1", "--tail", "2"}).ok());
  EXPECT_EQ(fake.out, "line 99999\nline 100000\n");
  EXPECT_LE(sent, 1 << 20) << "not the whole log";
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"logs", "1", "--tail", "20000"}).ok());
  EXPECT_TRUE(fake.out.starts_with("line 80001\n")) << fake.out.substr(0, 40);
  log = "no end";
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"logs", "1", "--tail", "1"}).ok());
  EXPECT_EQ(fake.out, "no end");
}

TEST(Logs, FollowedOnesGoOnUntilTheJobHasEnded) {
  FakeCommandContext fake;
  int calls = 0;
  fake.script.logs = [&](const LogsRequest& request) -> Result<LogsAnswer> {
    EXPECT_GT(request.wait, Duration::zero());
    if (++calls == 2) return Error{Code::Unavailable, "restarting"};
    if (calls < 5) return LogsAnswer{.next = 0};
    return LogsAnswer{.bytes = "done\n", .next = 5, .ended = true};
  };
  ASSERT_TRUE(call(fake, {"logs", "-f", "17"}).ok());
  EXPECT_EQ(fake.out, "done\n");
  for (const auto& words : std::vector<std::vector<std::string>>{{"logs"},
                                                                 {"logs", "0"},
                                                                 {"logs", "x"},
                                                                 {"logs", "1", "--rank", "-1"},
                                                                 {"logs", "1", "--tail", "0"}}) {
    EXPECT_FALSE(call(fake, words).ok()) << words.back();
  }
}

// Longer than a command that asks once would wait.
constexpr int kManyFailures = 40;

TEST(Logs, AFollowerOutlastsAnOutageOfTheScheduler) {
  FakeCommandContext fake;
  int calls = 0;
  fake.script.logs = [&](const LogsRequest& request) -> Result<LogsAnswer> {
    if (++calls == 1) return LogsAnswer{.bytes = "a", .next = 1};
    if (calls <= 1 + kManyFailures) return Error{Code::Unavailable, "no scheduler"};
    EXPECT_EQ(request.offset, 1);
    return LogsAnswer{.bytes = "b\n", .next = 3, .ended = true};
  };
  ASSERT_TRUE(call(fake, {"logs", "-f", "17"}).ok());
  EXPECT_EQ(fake.out, "ab\n");
}

TEST(Logs, ACommandThatNeverHadAnAnswerGivesUp) {
  FakeCommandContext fake;
  int calls = 0;
  fake.script.logs = [&](const LogsRequest&) -> Result<LogsAnswer> {
    ++calls;
    return Error{Code::Unavailable, "no scheduler"};
  };
  EXPECT_FALSE(call(fake, {"logs", "-f", "17"}).ok());
  EXPECT_LT(calls, 20);
}

TEST(Events, AFollowerOutlastsAnOutageOfTheScheduler) {
  FakeCommandContext fake;
  int calls = 0;
  std::vector<std::int64_t> from;
  fake.script.events = [&](const EventsRequest& request) -> Result<EventsAnswer> {
    from.push_back(request.from);
    if (++calls == 1) return EventsAnswer{.lines = {R"({"seq":8})"}, .next = 9};
    if (calls <= 1 + kManyFailures) return Error{Code::Unavailable, "no scheduler"};
    return Error{Code::PermissionDenied, "enough"};
  };
  EXPECT_EQ(call(fake, {"events", "-f", "--json"}).error().code, Code::PermissionDenied);
  EXPECT_EQ(from.back(), 9) << "nothing is left out, and nothing comes twice";
}

TEST(Nodes, AreATableOrJson) {
  FakeCommandContext fake;
  fake.context.width = 80;
  fake.script.nodes = [&]() -> Result<NodesAnswer> {
    NodeStatus node{.name = "n1", .state = "up", .gpus = 8, .gpus_free = 3};
    node.cpu_milli = 64'000;
    node.memory_bytes = std::int64_t{512} << 30;
    node.seen_s = fake.context.now_s() - 5;
    for (JobNumber job = 100; job < 140; ++job) node.jobs.push_back(job);
    return NodesAnswer{.nodes = {node}};
  };
  ASSERT_TRUE(call(fake, {"nodes"}).ok());
  for (const char* part : {"n1", "512G", "0:05", "100,101", "1 node, 3 of 8 GPUs free"}) {
    EXPECT_NE(fake.out.find(part), std::string::npos) << part << '\n' << fake.out;
  }
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"nodes", "--json"}).ok());
  const auto json = nlohmann::json::parse(fake.out);
  EXPECT_EQ(json["nodes"][0]["gpus_free"], 3);
  EXPECT_TRUE(json["nodes"][0]["gpu_type"].is_null());
}

TEST(Drain, TakesANodeOutAndBackIn) {
  FakeCommandContext fake;
  std::vector<DrainRequest> seen;
  fake.script.drain = [&](const DrainRequest& request) {
    seen.push_back(request);
    return Status();
  };
  ASSERT_TRUE(call(fake, {"drain", "n1", "--now"}).ok());
  ASSERT_TRUE(call(fake, {"resume", "n1"}).ok());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE(seen[0].now && !seen[0].resume);
  EXPECT_TRUE(seen[1].resume);
  EXPECT_FALSE(call(fake, {"drain"}).ok());
}

TEST(Actions, SayWhatTheyDidAsJson) {
  FakeCommandContext fake;
  fake.script.drain = [](const DrainRequest&) { return Status(); };
  fake.script.remove_node = [](const RemoveNodeRequest&) { return Status(); };
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> {
    return StatusAnswer{.policy = "las"};
  };
  fake.script.cancel = [](const CancelRequest&) -> Result<CancelAnswer> {
    return CancelAnswer{.cancelled = {7}};
  };
  fake.script.make_token = [](const TokenRequest&) -> Result<TokenAnswer> {
    return TokenAnswer{.token = "orrery.a.b"};
  };
  fake.script.certificates = [](const CertificatesRequest&) -> Result<CertificatesAnswer> {
    return CertificatesAnswer{.revoked = 2, .withdrawn = 1};
  };
  fake.script.quotas = []() -> Result<QuotasAnswer> {
    return QuotasAnswer{.quotas = {{.tenant = "vision", .gpus = 16, .held = 4, .borrows = true}}};
  };
  const std::pair<std::vector<std::string>, const char*> said[] = {
      {{"drain", "n1"}, R"({"node":"n1","takes_jobs":false})"},
      {{"resume", "n1"}, R"({"node":"n1","takes_jobs":true})"},
      {{"remove", "n1"}, R"({"removed":"n1"})"},
      {{"policy"}, R"({"policy":"las"})"},
      {{"cancel", "7-8"}, R"({"cancelled":[7],"ended":[8]})"},
      {{"token"}, R"({"token":"orrery.a.b"})"},
      {{"revoke", "4f"}, R"({"revoked":2,"tokens_withdrawn":1})"},
      {{"quota"}, R"({"quotas":[{"tenant":"vision","gpus":16,"gpus_held":4,"borrows":true}]})"}};
  for (auto [words, json] : said) {
    fake.out.clear();
    words.emplace_back("--json");
    ASSERT_TRUE(call(fake, words).ok()) << words[0];
    EXPECT_EQ(fake.out, std::string(json) + "\n");
  }
}

TEST(Policy, IsShownOrChanged) {
  FakeCommandContext fake;
  fake.script.status = [](const StatusRequest&) -> Result<StatusAnswer> {
    return StatusAnswer{.policy = "las"};
  };
  ASSERT_TRUE(call(fake, {"policy"}).ok());
  EXPECT_EQ(fake.out, "las\n");
  PolicyRequest seen;
  fake.script.set_policy = [&](const PolicyRequest& request) {
    seen = request;
    return Status();
  };
  ASSERT_TRUE(call(fake, {"policy", "las", "--option", "levels=2", "--option", "a=b=c"}).ok());
  EXPECT_EQ(seen.options, (std::map<std::string, std::string>{{"levels", "2"}, {"a", "b=c"}}));
  EXPECT_NE(message(call(fake, {"policy", "las", "--option", "x"})).find("key=value"),
            std::string::npos);
  EXPECT_FALSE(call(fake, {"policy", "--option", "a=b"}).ok());
}

TEST(Quota, IsShownSetAndTakenAway) {
  FakeCommandContext fake;
  std::vector<QuotaRequest> seen;
  fake.script.set_quota = [&](const QuotaRequest& request) {
    seen.push_back(request);
    return Status();
  };
  fake.script.quotas = []() -> Result<QuotasAnswer> {
    return QuotasAnswer{.quotas = {{.tenant = "vision", .gpus = 16, .held = 4, .borrows = true}}};
  };
  ASSERT_TRUE(call(fake, {"quota"}).ok());
  EXPECT_TRUE(seen.empty());
  ASSERT_TRUE(call(fake, {"quota", "vision", "16", "--no-borrow"}).ok());
  ASSERT_TRUE(call(fake, {"quota", "vision", "none"}).ok());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].gpus, 16);
  EXPECT_FALSE(seen[0].borrows);
  EXPECT_EQ(seen[1].gpus, std::nullopt);
  EXPECT_NE(message(call(fake, {"quota", "vision", "some"})).find("none"), std::string::npos);
  EXPECT_FALSE(call(fake, {"quota", "vision", "--no-borrow"}).ok());
}

// Three events, two to an answer.
void three_events(FakeCommandContext& fake, std::vector<std::int64_t>& asked) {
  fake.script.events = [&](const EventsRequest& request) -> Result<EventsAnswer> {
    asked.push_back(request.from);
    fake.now += request.wait;
    if (request.from <= 0) return EventsAnswer{.lines = {"{\"seq\":1}", "{\"seq\":2}"}, .next = 3};
    if (request.from == 3) return EventsAnswer{.lines = {"{\"seq\":3}"}, .next = 4};
    return EventsAnswer{.next = 4};
  };
}

TEST(Events, ArePagedToTheLastOrFollowed) {
  FakeCommandContext fake;
  std::vector<std::int64_t> asked;
  three_events(fake, asked);
  ASSERT_TRUE(call(fake, {"events", "--json"}).ok());
  EXPECT_EQ(fake.out, "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n");
  EXPECT_EQ(asked, (std::vector<std::int64_t>{0, 3, 4}));
  asked.clear();
  fake.interrupt_at = std::chrono::seconds(5);
  ASSERT_TRUE(call(fake, {"events", "-f"}).ok());
  EXPECT_EQ(asked.front(), -10);
  EXPECT_LE(asked.size(), 6U);
}

TEST(Events, AreReadableLines) {
  const std::string line =
      event_text(R"({"seq":4,"t":5,"unix_ns":1800000000500000000,"event":"started","job":17,)"
                 R"("what":{"nodes":["a\n"],"why":"x"}})");
  EXPECT_NE(line.find("started"), std::string::npos);
  EXPECT_NE(line.find("17  nodes=[\"a\\n\"]  why=x"), std::string::npos) << line;
  EXPECT_EQ(line.find("seq"), std::string::npos);
  EXPECT_EQ(event_text("no\tJSON"), "no?JSON");
}

TEST(LiveRecord, WritesALogThatSaysWhatItIs) {
  FakeCommandContext fake;
  std::vector<std::int64_t> asked;
  three_events(fake, asked);
  const StateFolder state;
  const std::string file = state.file("run.jsonl");
  ASSERT_TRUE(
      live_record({.connection = {.state = state.path()}, .output = file}, fake.context).ok());
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "{\"orrery_live_log\":1}\n{\"seq\":1}\n{\"seq\":2}\n{\"seq\":3}\n");
  fake.script.events = [](const EventsRequest&) -> Result<EventsAnswer> {
    return Error{Code::DataLoss, "a bad page"};
  };
  const std::string other = state.file("other.jsonl");
  EXPECT_FALSE(
      live_record({.connection = {.state = state.path()}, .output = other}, fake.context).ok());
  EXPECT_FALSE(std::filesystem::exists(other) || std::filesystem::exists(other + ".part"));
}

TEST(LiveWhatif, AsksForOneJobOrForAll) {
  FakeCommandContext fake;
  const StateFolder state;
  WhatIfRequest seen;
  fake.script.what_if = [&](const WhatIfRequest& request) -> Result<WhatIfAnswer> {
    seen = request;
    return WhatIfAnswer{.text = "at once", .json = "{}"};
  };
  LiveWhatif question{.connection = {.state = state.path()},
                      .job = "gpus=4,time=2h",
                      .policy = "elasticflow",
                      .nodes_more = 4};
  ASSERT_TRUE(live_whatif(question, fake.context).ok());
  EXPECT_EQ(fake.out, "at once\n");
  EXPECT_EQ(seen.job->gpus, 4);
  EXPECT_EQ(seen.job->expected, Duration(std::chrono::hours(2)));
  EXPECT_EQ(seen.nodes_more, 4);
  EXPECT_EQ(seen.policy, "elasticflow");
  question.job = "";
  ASSERT_TRUE(live_whatif(question, fake.context).ok());
  EXPECT_FALSE(seen.job);
  question.job = "gpu=4";
  EXPECT_NE(message(live_whatif(question, fake.context))
                .find("--job: there is no 'gpu'; did you "
                      "mean 'gpus'?"),
            std::string::npos);
}

TEST(Token, IsTheOnlyThingOnStandardOutput) {
  FakeCommandContext fake;
  TokenRequest seen;
  fake.script.make_token = [&](const TokenRequest& request) -> Result<TokenAnswer> {
    seen = request;
    return TokenAnswer{.token = "orrery.abc.def"};
  };
  ASSERT_TRUE(call(fake, {"token", "--role", "user", "--name", "bob", "--valid", "2h"}).ok());
  EXPECT_EQ(fake.out, "orrery.abc.def\n");
  EXPECT_EQ(seen.role, Caller::Role::User);
  EXPECT_EQ(seen.valid, Duration(std::chrono::hours(2)));
  EXPECT_NE(
      message(call(fake, {"token", "--role", "admin"})).find("agent, user, operator or scraper"),
      std::string::npos);
  EXPECT_NE(message(call(fake, {"token", "--role", "user"})).find("--name"), std::string::npos);
  EXPECT_NE(message(call(fake, {"token", "--valid", "x"})).find("--valid"), std::string::npos);
  EXPECT_FALSE(call(fake, {"token", "--uses", "0"}).ok());
}

TEST(Trust, TokensAndCertificatesAreListedAndEnded) {
  FakeCommandContext fake;
  std::vector<TokensRequest> tokens;
  fake.script.tokens = [&](const TokensRequest& request) -> Result<TokensAnswer> {
    tokens.push_back(request);
    return TokensAnswer{
        .tokens = {
            {.id = "0a1b", .role = Caller::Role::Agent, .until_s = 1'800'000'000, .uses = 3}}};
  };
  ASSERT_TRUE(call(fake, {"tokens"}).ok());
  EXPECT_EQ(fake.out, "id    role   name  uses  until\n0a1b  agent  any      3  " +
                          local_time(1'800'000'000) + "\n");
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"tokens", "--withdraw", "0a1b"}).ok());
  EXPECT_EQ(fake.out, "the token 0a1b is withdrawn\n");
  EXPECT_EQ(tokens.back().withdraw, "0a1b");
  std::vector<CertificatesRequest> asked;
  fake.script.certificates = [&](const CertificatesRequest& request) -> Result<CertificatesAnswer> {
    asked.push_back(request);
    return CertificatesAnswer{
        .certificates = {{.serial = "4f", .name = "bob", .until_s = 1'800'000'000, .revoked = "x"}},
        .revoked = 2,
        .withdrawn = 1};
  };
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"certificates"}).ok());
  EXPECT_NE(fake.out.find("4f      user  bob   " + local_time(1'800'000'000) + "  yes\n"),
            std::string::npos)
      << fake.out;
  fake.out.clear();
  ASSERT_TRUE(call(fake, {"revoke", "--name", "bob", "--role", "user"}).ok());
  EXPECT_EQ(fake.out, "bob: 2 certificates revoked, 1 token withdrawn\n");
  EXPECT_EQ(asked.back(), (CertificatesRequest{.revoke_name = "bob", .role = Caller::Role::User}));
  ASSERT_TRUE(call(fake, {"revoke", "4f"}).ok());
  EXPECT_EQ(asked.back(), (CertificatesRequest{.revoke_serial = "4f"}));
  EXPECT_FALSE(call(fake, {"revoke"}).ok());
  EXPECT_FALSE(call(fake, {"revoke", "4f", "--name", "bob"}).ok());
  EXPECT_FALSE(call(fake, {"revoke", "4f", "--role", "user"}).ok());
  EXPECT_NE(message(call(fake, {"revoke", "--name", "bob", "--role", "boss"}))
                .find("user, operator, agent, admin or scraper"),
            std::string::npos);
  RemoveNodeRequest removed;
  fake.script.remove_node = [&](const RemoveNodeRequest& request) -> Status {
    removed = request;
    return {};
  };
  ASSERT_TRUE(call(fake, {"remove", "n1"}).ok());
  EXPECT_EQ(removed.node, "n1");
}

TEST(Join, TakesTheTokenFromAFileOrStandardInputOnly) {
  FakeCommandContext fake;
  const TestFolder home;
  fake.context.environment["HOME"] = home.path();
  std::vector<JoinOrder> seen;
  fake.context.join = [&](const JoinOrder& order) {
    seen.push_back(order);
    return Result<std::string>("head:7077");
  };
  const StateFolder folder;
  const std::string file = folder.write("token", " orrery.abc.def \n");
  ASSERT_TRUE(call(fake, {"join", "--server", "head:7077", "--token-file", file}).ok());
  fake.input = "orrery.x.y\n";
  ASSERT_TRUE(call(fake, {"join", "--server", "head:7077", "--role", "agent"}).ok());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].token, "orrery.abc.def");
  EXPECT_EQ(seen[0].name, "ann");
  EXPECT_EQ(seen[0].credentials, home / ".config/orrery");
  EXPECT_EQ(seen[0].certificate, "client");
  EXPECT_EQ(seen[1].token, "orrery.x.y");
  EXPECT_EQ(seen[1].name, "node7");
  EXPECT_EQ(fake.out.find("orrery.abc"), std::string::npos) << "a token is never shown again";
  fake.input = "\n";
  EXPECT_FALSE(call(fake, {"join", "--server", "head:7077"}).ok());
  EXPECT_FALSE(call(fake, {"join", "--server", "head"}).ok());
  EXPECT_FALSE(call(fake, {"join", "--server", "head:7077", "--token", "orrery.x.y"}).ok());
}

}  // namespace
}  // namespace orrery
