#include "live/unix_socket/server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/test_folder.h"
#include "live/api/fake_api.h"
#include "live/unix_socket/client.h"
#include "live/unix_socket/frame.h"
#include "live/unix_socket/socket.h"

namespace orrery {
namespace {

constexpr auto kLong = std::chrono::seconds(60);  // a test that waits so long has failed

Caller ann() { return {.role = Caller::Role::User, .name = "ann"}; }

// A peer that says what it likes.
class RawPeer {
 public:
  explicit RawPeer(const std::string& path) {
    auto made = connect_to(path);
    EXPECT_TRUE(made.ok());
    fd_ = std::move(made).value();
  }
  void say(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t size = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (size < 0 && errno == EAGAIN) continue;
      if (size < 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(size));
    }
  }
  // Everything until the other end hangs up.
  std::string hear() const {
    std::string heard;
    char piece[4096];
    while (true) {
      pollfd wanted{.fd = fd_.get(), .events = POLLIN, .revents = 0};
      if (::poll(&wanted, 1, 60'000) != 1) return heard + "(nothing more came)";
      const ssize_t size = ::recv(fd_.get(), piece, sizeof piece, 0);
      if (size <= 0) return heard;
      heard.append(piece, static_cast<std::size_t>(size));
    }
  }
  // The error that is the last thing said.
  Frame last_word() const {
    FrameReader reader(1 << 20);
    reader.take(hear());
    Frame last;
    while (true) {
      auto next = reader.next();
      if (!next.ok() || !next.value()) return last;
      last = *std::move(next).value();
    }
  }
  void close() { fd_.close(); }

 private:
  Fd fd_{};
};

std::string framed(std::uint8_t word, std::string_view body) {
  std::string bytes = open_frame(word);
  bytes += body;
  close_frame(bytes);
  return bytes;
}

class UnixSocketTest : public testing::Test {
 protected:
  ~UnixSocketTest() override { server_.reset(); }

  std::string path() const { return folder_ + "/socket"; }
  void start(const std::function<void(UnixSocketServerOptions&)>& change = {}) {
    UnixSocketServerOptions options{.path = path(), .identify = [](uid_t) { return ann(); }};
    if (change) change(options);
    auto started = UnixSocketServer::start(std::move(options), api_);
    ASSERT_TRUE(started.ok()) << started.error().message;
    server_ = std::move(started).value();
  }
  UnixSocketClient client(Duration deadline = kLong) {
    return UnixSocketClient({.path = path(), .deadline = deadline});
  }
  // Figures are counted on the server's thread.
  template <class Condition>
  bool eventually(Condition condition) const {
    const auto until = std::chrono::steady_clock::now() + kLong;
    while (!condition(server_->figures())) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::yield();
    }
    return true;
  }

  // The last request of the Api must be this one, and the answer the one that was set.
  template <class Answer, class Request, class Ask>
  void expect_call(const std::string& call, const Request& request, const Answer& set, Ask ask) {
    api_.answers[call] = set;
    const Result<Answer> answer = ask();
    ASSERT_TRUE(answer.ok()) << call << ": " << answer.error().message;
    EXPECT_TRUE(answer.value() == set) << call;
    const FakeApi::Asked asked = api_.asked().back();
    EXPECT_EQ(asked.call, call);
    EXPECT_EQ(asked.caller, ann());
    ASSERT_NE(std::any_cast<Request>(&asked.request), nullptr) << call;
    EXPECT_TRUE(std::any_cast<Request>(asked.request) == request) << call;
  }

  FakeApi api_;
  const TestFolder above_;
  std::string folder_ = above_.path();
  std::unique_ptr<UnixSocketServer> server_;
};

TEST_F(UnixSocketTest, EveryCallReachesTheApiAndBringsItsAnswerBack) {
  start();
  UnixSocketClient socket = client();
  const auto nothing = [](Status status) -> Result<Nothing> {
    if (!status.ok()) return std::move(status).error();
    return Nothing{};
  };
  const SubmitRequest submit{.job = {.argv = {"train", "--fast"}, .gpus = 2}, .key = "k"};
  expect_call("submit", submit, SubmitAnswer{.first = 7, .count = 2},
              [&] { return socket.submit(submit); });
  const StatusRequest status{.ids = {7}, .finished = false, .predict = true};
  expect_call("status", status,
              StatusAnswer{.policy = "srtf", .jobs = {{.id = 7, .state = JobState::Paused}}},
              [&] { return socket.status(status); });
  const CancelRequest cancel{.ids = {7, 8}};
  expect_call("cancel", cancel, CancelAnswer{.cancelled = {8}},
              [&] { return socket.cancel(cancel); });
  const LogsRequest logs{.id = 7, .rank = 1, .offset = -10, .most = 100};
  expect_call("logs", logs, LogsAnswer{.bytes = std::string("\0\xff", 2), .next = 2},
              [&] { return socket.logs(logs); });
  expect_call("nodes", Nothing{}, NodesAnswer{.nodes = {{.name = "n1", .jobs = {7}}}},
              [&] { return socket.nodes(); });
  const DrainRequest drain{.node = "n1", .now = true};
  expect_call("drain", drain, Nothing{}, [&] { return nothing(socket.drain(drain)); });
  const PolicyRequest policy{.policy = "las", .options = {{"levels", "3"}}};
  expect_call("set_policy", policy, Nothing{}, [&] { return nothing(socket.set_policy(policy)); });
  const QuotaRequest quota{.tenant = "lab", .gpus = 4, .borrows = false};
  expect_call("set_quota", quota, Nothing{}, [&] { return nothing(socket.set_quota(quota)); });
  expect_call("quotas", Nothing{}, QuotasAnswer{.quotas = {{.tenant = "lab", .gpus = 4}}},
              [&] { return socket.quotas(); });
  const EventsRequest events{.from = 3, .most = 9};
  expect_call("events", events, EventsAnswer{.lines = {"{}", "{}"}, .next = 5},
              [&] { return socket.events(events); });
  const WhatIfRequest what_if{.job = JobRequest{.argv = {"a"}}, .nodes_more = 4};
  expect_call("what_if", what_if, WhatIfAnswer{.text = "in an hour", .json = "{}"},
              [&] { return socket.what_if(what_if); });
  expect_call("situation", Nothing{}, SituationAnswer{.json = "{\"jobs\":[]}"},
              [&] { return socket.situation(); });
  expect_call("tokens", TokensRequest{.withdraw = "0a"}, TokensAnswer{.tokens = {{.id = "0b"}}},
              [&] { return socket.tokens({.withdraw = "0a"}); });
  expect_call("certificates", CertificatesRequest{.revoke_name = "bob"},
              CertificatesAnswer{.revoked = 2},
              [&] { return socket.certificates({.revoke_name = "bob"}); });
  expect_call("remove_node", RemoveNodeRequest{.node = "n1"}, Nothing{},
              [&] { return nothing(socket.remove_node({.node = "n1"})); });
  const TokenRequest token{.role = Caller::Role::Admin, .name = "bob"};
  expect_call("make_token", token, TokenAnswer{.token = "secret"},
              [&] { return socket.make_token(token); });
  const TenantRequest tenant{.tenant = "lab", .add = {"ann"}, .forget = true};
  expect_call("set_tenant", tenant, Nothing{}, [&] { return nothing(socket.set_tenant(tenant)); });
  expect_call("tenants", Nothing{}, TenantsAnswer{.tenants = {{.tenant = "lab"}}},
              [&] { return socket.tenants(); });
  const LimitsRequest limits{.name = "ann", .limits = {.priority = -3, .gpus = kNoLimit}};
  expect_call("set_limits", limits, Nothing{}, [&] { return nothing(socket.set_limits(limits)); });
  expect_call("limits", Nothing{},
              LimitsAnswer{.limits = {{.scope = LimitScope::EachTenant, .gpus_held = 3}}},
              [&] { return socket.limits(); });
  EXPECT_EQ(server_->figures().calls, 20);
  EXPECT_EQ(server_->figures().connections, 1);
}

TEST_F(UnixSocketTest, ErrorsKeepTheirCodeAndMessage) {
  start();
  UnixSocketClient socket = client();
  for (const Code code : {Code::NotFound, Code::PermissionDenied, Code::ResourceExhausted,
                          Code::DataLoss, Code::Unauthenticated}) {
    api_.answers["nodes"] = Error{code, "so it is"};
    const auto answer = socket.nodes();
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().code, code);
    EXPECT_EQ(answer.error().message, "so it is");
  }
}

TEST_F(UnixSocketTest, AFieldOutOfItsBoundsIsNamed) {
  start();
  UnixSocketClient socket = client();
  const auto answer = socket.logs({.id = 1, .rank = -1});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::InvalidArgument);
  EXPECT_NE(answer.error().message.find("rank"), std::string::npos);
  EXPECT_TRUE(socket.nodes().ok()) << "the connection goes on";
}

TEST_F(UnixSocketTest, TheKernelNamesTheCaller) {
  uid_t seen = 12345678;
  start([&](UnixSocketServerOptions& options) {
    options.identify = [&](uid_t uid) {
      seen = uid;
      return ann();
    };
  });
  ASSERT_TRUE(client().nodes().ok());
  EXPECT_EQ(seen, ::geteuid());
}

TEST_F(UnixSocketTest, ACallerWithoutANameGetsTheReasonAndIsCounted) {
  start([](UnixSocketServerOptions& options) {
    options.identify = [](uid_t) -> Result<Caller> {
      return Error{Code::Unauthenticated, "this login is unknown"};
    };
  });
  const auto answer = client().nodes();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::Unauthenticated);
  EXPECT_EQ(answer.error().message, "this login is unknown");
  EXPECT_TRUE(api_.asked().empty());
  EXPECT_EQ(server_->figures().refused, 1);
}

TEST_F(UnixSocketTest, CallsThatAreTooManyAreRefusedOneByOne) {
  std::atomic<int> left = 1;
  start([&](UnixSocketServerOptions& options) {
    options.admit = [&](const Caller& caller) -> Status {
      EXPECT_EQ(caller, ann());
      if (--left >= 0) return {};
      return Error{Code::ResourceExhausted, "slower"};
    };
  });
  UnixSocketClient socket = client();
  EXPECT_TRUE(socket.nodes().ok());
  EXPECT_EQ(socket.nodes().error().code, Code::ResourceExhausted);
  EXPECT_EQ(server_->figures().refused, 1);
  left = 1;
  EXPECT_TRUE(socket.nodes().ok());
}

TEST_F(UnixSocketTest, GarbageIsAnsweredWithAnErrorAndClosed) {
  start([](UnixSocketServerOptions& options) { options.message_bytes_max = 1000; });
  const RawPeer peer(path());
  peer.say("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(peer.last_word().word, static_cast<int>(Code::ResourceExhausted));
  const RawPeer empty(path());
  empty.say(std::string_view("\0\0\0\0", 4));
  EXPECT_EQ(empty.last_word().word, static_cast<int>(Code::InvalidArgument));
  EXPECT_TRUE(eventually([](const UnixSocketFigures& now) { return now.broken == 2; }));
  EXPECT_TRUE(client().nodes().ok()) << "others are served";
}

TEST_F(UnixSocketTest, AMessageThatIsTooLargeIsRefusedBeforeItIsRead) {
  start([](UnixSocketServerOptions& options) { options.message_bytes_max = 1000; });
  const auto answer = client().submit({.job = {.argv = {std::string(2000, 'x')}}});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::ResourceExhausted);
  EXPECT_TRUE(api_.asked().empty());
}

TEST_F(UnixSocketTest, ABodyThatIsNoMessageAndACallThatIsNoneAreErrorsOfThatCallAlone) {
  start();
  const RawPeer peer(path());
  peer.say(framed(static_cast<std::uint8_t>(UnixSocketCall::Submit), "\xff\xff\xff") +
           framed(200, "") + framed(static_cast<std::uint8_t>(UnixSocketCall::Nodes), ""));
  ASSERT_TRUE(eventually([](const UnixSocketFigures& now) { return now.calls == 3; }));
  server_->stop();
  FrameReader reader(1 << 20);
  reader.take(peer.hear());
  EXPECT_EQ(reader.next().value()->word, static_cast<int>(Code::InvalidArgument));
  EXPECT_EQ(reader.next().value()->word, static_cast<int>(Code::Unimplemented));
}

TEST_F(UnixSocketTest, ACallerThatStopsHalfWayThroughAMessageIsNotWaitedFor) {
  start([](UnixSocketServerOptions& options) { options.patience = std::chrono::milliseconds(20); });
  const RawPeer peer(path());
  peer.say(framed(static_cast<std::uint8_t>(UnixSocketCall::Nodes), "body").substr(0, 6));
  EXPECT_EQ(peer.last_word().word, static_cast<int>(Code::DeadlineExceeded));
  EXPECT_EQ(server_->figures().timed_out, 1);
}

TEST_F(UnixSocketTest, ACallerThatDoesNotFetchAnAnswerIsNotWaitedFor) {
  api_.answers["situation"] = SituationAnswer{.json = std::string(std::size_t{8} << 20, 'x')};
  start([](UnixSocketServerOptions& options) { options.patience = std::chrono::milliseconds(20); });
  const RawPeer peer(path());
  peer.say(framed(static_cast<std::uint8_t>(UnixSocketCall::Situation), ""));
  EXPECT_TRUE(eventually([](const UnixSocketFigures& now) { return now.timed_out == 1; }));
}

TEST_F(UnixSocketTest, ALongAnswerArrivesWhole) {
  api_.answers["situation"] = SituationAnswer{.json = std::string(std::size_t{32} << 20, 'x')};
  start();
  const auto answer = client().situation();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer.value().json.size(), std::size_t{32} << 20);
}

TEST_F(UnixSocketTest, ACallerThatHangsUpIsForgottenAndTheLateReplyGoesNowhere) {
  api_.hold = true;
  start();
  RawPeer peer(path());
  peer.say(framed(static_cast<std::uint8_t>(UnixSocketCall::Nodes), ""));
  auto held = api_.take_held(1);
  peer.close();
  api_.hold = false;
  EXPECT_TRUE(client().nodes().ok());
  held.front()();
  EXPECT_TRUE(client().nodes().ok());
}

TEST_F(UnixSocketTest, ACallThatIsNotAnsweredEndsWithItsDeadline) {
  api_.hold = true;
  start();
  UnixSocketClient socket = client(std::chrono::milliseconds(20));
  const auto answer = socket.nodes();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::DeadlineExceeded);
}

TEST_F(UnixSocketTest, StoppingEndsCallsAndLateRepliesGoNowhere) {
  api_.hold = true;
  start();
  auto answer = std::async(std::launch::async, [this] { return client().nodes(); });
  auto held = api_.take_held(1);
  server_->stop();
  EXPECT_EQ(answer.get().error().code, Code::Unavailable);
  held.front()();
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_EQ(client().nodes().error().code, Code::Unavailable);
}

TEST_F(UnixSocketTest, AClientFindsASchedulerThatWasRestarted) {
  start();
  UnixSocketClient socket = client();
  ASSERT_TRUE(socket.nodes().ok());
  server_->stop();
  EXPECT_EQ(socket.nodes().error().code, Code::Unavailable);
  const std::string gone = socket.nodes().error().message;
  EXPECT_NE(gone.find("see whether `orrery serve` runs"), std::string::npos) << gone;
  start();
  EXPECT_TRUE(socket.nodes().ok());
}

TEST_F(UnixSocketTest, AnIdleConnectionGivesWayToOthers) {
  start([](UnixSocketServerOptions& options) { options.connections_max = 2; });
  UnixSocketClient first = client();
  UnixSocketClient second = client();
  ASSERT_TRUE(first.nodes().ok());
  ASSERT_TRUE(second.nodes().ok());
  EXPECT_TRUE(client().nodes().ok());
  EXPECT_TRUE(second.nodes().ok()) << "the first one has been idle for longer";
  EXPECT_EQ(first.nodes().error().code, Code::Unavailable);
  EXPECT_TRUE(first.nodes().ok()) << "and comes back by a new connection";
}

TEST_F(UnixSocketTest, WhenAllAreBusyTheNextOneIsRefusedWithTheReason) {
  api_.hold = true;
  start([](UnixSocketServerOptions& options) {
    options.connections_of_one_max = 1;
    options.parked_after = std::chrono::hours(1);
  });
  auto busy = std::async(std::launch::async, [this] { return client().nodes(); });
  auto held = api_.take_held(1);
  const auto answer = client().nodes();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, Code::ResourceExhausted);
  held.front()();
  EXPECT_TRUE(busy.get().ok());
}

TEST_F(UnixSocketTest, ALoginIsNotLockedOutByItsOwnConnectionsThatWait) {
  api_.hold = true;
  start([](UnixSocketServerOptions& options) {
    options.connections_of_one_max = 2;
    options.parked_after = Duration::zero();
  });
  const RawPeer stuck(path());
  stuck.say(framed(1, std::string(100, 'x')).substr(0, 50));
  auto waits = std::async(std::launch::async, [this] { return client().nodes(); });
  auto held = api_.take_held(1);
  // Each newcomer is served, and the one before it gives way.
  for (int i = 0; i < 3; ++i) {
    auto newcomer = std::async(std::launch::async, [this] { return client().nodes(); });
    api_.take_held(1).front()();
    EXPECT_TRUE(newcomer.get().ok()) << i;
  }
  held.front()();
  static_cast<void>(waits.get().ok());
}

TEST_F(UnixSocketTest, AnAdminComesInWhereOthersHoldEveryPlace) {
  api_.hold = true;
  std::atomic<bool> admin = false;
  start([&](UnixSocketServerOptions& options) {
    options.connections_max = 1;
    options.connections_reserved = 1;
    options.parked_after = std::chrono::hours(1);
    options.identify = [&](uid_t) {
      return admin ? Caller{.role = Caller::Role::Admin, .name = "root"} : ann();
    };
  });
  auto busy = std::async(std::launch::async, [this] { return client().nodes(); });
  auto held = api_.take_held(1);
  const auto refused = client().nodes();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::ResourceExhausted);
  admin = true;
  auto root = std::async(std::launch::async, [this] { return client().nodes(); });
  api_.take_held(1).front()();
  EXPECT_TRUE(root.get().ok());
  held.front()();
  EXPECT_TRUE(busy.get().ok());
}

TEST_F(UnixSocketTest, ManyClientsAtOnceGetTheirOwnAnswers) {
  start();
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (int i = 1; i <= 16; ++i) {
    clients.emplace_back([&, i] {
      UnixSocketClient socket = client();
      for (int j = 0; j < 50; ++j) {
        if (!socket.submit({.job = {.argv = {std::to_string(i)}}}).ok()) ++wrong;
      }
    });
  }
  for (std::thread& one : clients) one.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(server_->figures().calls, 16 * 50);
}

TEST_F(UnixSocketTest, APathMayBeLongerThanTheSystemsLimit) {
  folder_ += "/" + std::string(150, 'd');
  std::filesystem::create_directories(folder_);
  start();
  EXPECT_TRUE(client().nodes().ok());
}

TEST_F(UnixSocketTest, WhatIsNoSocketIsLeftAlone) {
  std::ofstream(path()) << "mine";
  auto started =
      UnixSocketServer::start({.path = path(), .identify = [](uid_t) { return ann(); }}, api_);
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, Code::AlreadyExists);
  EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(UnixSocketTest, EveryLoginMayConnect) {
  start();
  struct stat found {};
  ASSERT_EQ(::stat(path().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0666U);
}

TEST_F(UnixSocketTest, AListenerThatDoesNotOwnTheFolderIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
  std::filesystem::permissions(folder_, std::filesystem::perms::all);
  Fd impostor;
  // The system's own call changes the calling thread alone.
  std::thread([&] {
    ASSERT_EQ(::syscall(SYS_setresuid, -1, 54321, -1), 0);
    auto listening = listen_at(path());
    ASSERT_TRUE(listening.ok()) << listening.error().message;
    impostor = std::move(listening).value();
  }).join();
  const Status refused = client().connect();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Code::Unavailable);
  EXPECT_NE(refused.error().message.find("own"), std::string::npos);
  start();
  EXPECT_TRUE(client().connect().ok()) << "root is believed everywhere";
}

}  // namespace
}  // namespace orrery
