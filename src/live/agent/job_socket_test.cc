#include "live/agent/job_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/agent/test_sockets.h"

namespace orrery {
namespace {

using Kind = JobWord::Kind;

const std::string kHello = "{\"kind\":\"hello\",\"version\":1,\"rank\":0}\n";
const std::string kStep = "{\"kind\":\"progress\",\"iteration\":1}\n";
const std::string kWelcome =
    "{\"checkpoint_dir\":\"/c\",\"epoch\":3,\"kind\":\"welcome\",\"ranks\":1,\"resume\":false,"
    "\"version\":1}\n";

class JobSocket : public testing::Test {
 protected:
  TestFolder folder_;
  TestPost post_{folder_ / "s"};
  Launch launch_ = post_.listen(example());
  const std::string name_ = launch_name(launch_);

  static Launch example() {
    return {.job = JobId{7}, .epoch = 3, .argv = {"job"}, .checkpoint_directory = "/c"};
  }
  TestClient connect() const {
    TestClient client(launch_.socket);
    EXPECT_TRUE(client.connected());
    return client;
  }
  TestClient greeted() {
    TestClient client = connect();
    client.say(kHello);
    EXPECT_TRUE(post_.until([&] { return client.heard() == kWelcome; }));
    return client;
  }
};

TEST_F(JobSocket, IsOnlyTheJobsUsersToUse) {
  struct stat found {};
  ASSERT_EQ(::lstat(launch_.socket.c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 0777u, 0600u);
  ASSERT_EQ(::lstat((folder_ / "s").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777u, 0711u);
}

TEST_F(JobSocket, BelongsToTheUserTheJobRunsAs) {
  Launch other = example();
  other.job = JobId{8};
  other.user = "no such user";
  other.socket = folder_ / "s/8.3.0";
  EXPECT_FALSE(post_.sockets().listen(other).ok());
  EXPECT_FALSE(std::filesystem::exists(other.socket));
  const passwd* const login = ::getpwuid(65534);
  if (::geteuid() != 0 || !login) GTEST_SKIP() << "needs root and a login with the id 65534";
  other.user = login->pw_name;
  post_.listen(other);
  struct stat found {};
  ASSERT_EQ(::lstat(other.socket.c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, login->pw_uid);
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0711));
  ASSERT_EQ(::seteuid(login->pw_uid), 0);
  const bool own = TestClient(other.socket).connected();
  const bool foreign = TestClient(launch_.socket).connected();
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(own);
  EXPECT_FALSE(foreign);
}

TEST_F(JobSocket, AClientIsWelcomedHeardAndSeenOff) {
  TestClient client = greeted();
  EXPECT_TRUE(post_.sockets().listening(name_));
  client.say(kStep + "{\"kind\":\"bye\"}\n");
  ASSERT_TRUE(post_.until_said(Kind::Bye, name_));
  ASSERT_EQ(post_.words().size(), 3u);
  EXPECT_EQ(post_.words()[1],
            (JobWord{.launch = name_, .rank = 0, .kind = Kind::Progress, .iteration = 1}));
  EXPECT_FALSE(post_.sockets().listening(name_));
  EXPECT_TRUE(client.closed());
  EXPECT_EQ(post_.last(Kind::Gone, name_), nullptr) << "it said bye";
}

TEST_F(JobSocket, WhatIsSaidReachesTheClient) {
  TestClient client = greeted();
  EXPECT_TRUE(post_.sockets().say(name_, PrepareStop{}));
  EXPECT_TRUE(post_.sockets().say(name_, StopAt{.iteration = 9, .reason = StopReason::Cancel}));
  EXPECT_EQ(client.heard(),
            kWelcome + message_line(PrepareStop{}) + message_line(StopAt{9, StopReason::Cancel}));
  EXPECT_FALSE(post_.sockets().say("8.0.0", PrepareStop{})) << "no such launch";
}

TEST_F(JobSocket, AClientThatComesLateGetsTheLastStopAndResize) {
  EXPECT_FALSE(post_.sockets().say(name_, PrepareStop{}));
  EXPECT_FALSE(post_.sockets().say(name_, StopAt{.iteration = 9}));
  EXPECT_FALSE(post_.sockets().say(name_, ResizeNotice{.gpus = 2, .ranks = 2}));
  TestClient client = connect();
  client.say(kHello);
  const std::string all =
      kWelcome + message_line(ResizeNotice{2, 2}) + message_line(StopAt{.iteration = 9});
  EXPECT_TRUE(post_.until([&] { return client.heard() == all; })) << client.heard();
}

TEST_F(JobSocket, AClientThatGoesAwayMayComeBack) {
  greeted().close();
  ASSERT_TRUE(post_.until_said(Kind::Gone, name_));
  EXPECT_FALSE(post_.sockets().listening(name_));
  greeted().say(kStep);
  EXPECT_TRUE(post_.until_said(Kind::Progress, name_, 1));
}

TEST_F(JobSocket, TheLastOneThatSaysHelloWins) {
  TestClient first = greeted();
  TestClient second = greeted();
  EXPECT_TRUE(first.closed());
  EXPECT_EQ(first.heard(), kWelcome + error_line("another connection of this job took its place"));
  EXPECT_EQ(post_.last(Kind::Gone, name_), nullptr) << "the job was there all along";
  EXPECT_TRUE(post_.sockets().say(name_, PrepareStop{}));
  EXPECT_EQ(second.heard(), kWelcome + message_line(PrepareStop{}));
}

TEST_F(JobSocket, AClientThatOnlyConnectsDisturbsNoOther) {
  TestClient client = greeted();
  std::vector<TestClient> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(connect());
    post_.sockets().on_ready(boot_time(), post_.words());
  }
  ASSERT_TRUE(post_.until([&] { return silent[15].closed(); }));
  EXPECT_FALSE(silent[16].closed()) << "four may wait";
  EXPECT_TRUE(post_.sockets().listening(name_));
  client.say(kStep);
  EXPECT_TRUE(post_.until_said(Kind::Progress, name_, 1));
}

TEST_F(JobSocket, AClientThatBreaksTheRulesGetsTheReasonAndIsClosed) {
  TestClient client = greeted();
  client.say(kStep + "so far so good\n" + kStep);
  ASSERT_TRUE(post_.until([&] { return client.closed(); }));
  EXPECT_EQ(client.heard(), kWelcome + error_line("not JSON, from byte 1 on"));
  ASSERT_TRUE(post_.until_said(Kind::Gone, name_));
  EXPECT_EQ(post_.last(Kind::Gone, name_)->message, "not JSON, from byte 1 on");
  EXPECT_EQ(post_.words().size(), 3u) << "hello, one step, gone";
  greeted();
}

TEST_F(JobSocket, AClientThatFloodsIsIgnoredAndTheOthersAreNot) {
  Launch other = example();
  other.job = JobId{8};
  other = post_.listen(other);
  TestClient quiet(other.socket);
  quiet.say(kHello);
  TestClient client = greeted();
  std::string flood;
  for (int i = 0; i < 2 * kJobMessageBurst; ++i) flood += kStep;
  ASSERT_EQ(::fcntl(client.fd(), F_SETFL, O_NONBLOCK), 0);
  std::size_t sent = 0;
  ASSERT_TRUE(post_.until([&] {
    const ssize_t size =
        ::send(client.fd(), flood.data() + sent, flood.size() - sent, MSG_NOSIGNAL);
    if (size > 0) sent += static_cast<std::size_t>(size);
    return post_.last(Kind::Silenced, name_) != nullptr;
  }));
  EXPECT_LE(post_.words().size(), static_cast<std::size_t>(kJobMessageBurst) + 10);
  EXPECT_TRUE(client.closed());
  EXPECT_NE(client.heard().find("\"kind\":\"error\""), std::string::npos);
  EXPECT_FALSE(TestClient(launch_.socket).connected());
  EXPECT_FALSE(post_.sockets().say(name_, PrepareStop{}));
  quiet.say(kStep);
  EXPECT_TRUE(post_.until_said(Kind::Progress, launch_name(other), 1));
}

TEST_F(JobSocket, TheBudgetGrowsBackWithTime) {
  TestClient client = greeted();
  std::vector<JobWord> words;
  std::string half;
  for (int i = 0; i < kJobMessageBurst / 2; ++i) half += kStep;
  Duration now = boot_time();
  std::size_t wanted = 0;
  for (int round = 0; round < 5; ++round) {
    client.say(half);
    wanted += kJobMessageBurst / 2;
    now += std::chrono::seconds(1 + kJobMessageBurst / 2 / kJobMessagesPerSecond);
    while (words.size() < wanted) {
      pollfd wait{.fd = post_.sockets().fd(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&wait, 1, 10'000), 1);
      post_.sockets().on_ready(now, words);
    }
  }
  EXPECT_EQ(words.back().kind, Kind::Progress);
}

TEST_F(JobSocket, AClientThatDoesNotListenIsDroppedInTheEnd) {
  TestClient client = connect();
  client.say(kHello);
  ASSERT_TRUE(post_.until([&] { return post_.sockets().listening(name_); }));
  int said = 0;
  while (said < 100'000 && post_.sockets().say(name_, StopAt{.iteration = said})) ++said;
  EXPECT_GT(said, 100);
  EXPECT_LT(said, 100'000);
  EXPECT_FALSE(post_.sockets().listening(name_));
  TestClient again = connect();
  again.say(kHello);
  const std::string last = message_line(StopAt{.iteration = said});
  EXPECT_TRUE(post_.until([&] { return again.heard() == kWelcome + last; })) << again.heard();
}

TEST_F(JobSocket, SurvivesItsAgent) {
  TestClient before = greeted();
  TestPost next(folder_ / "s");
  const Status status = next.sockets().listen(launch_);
  ASSERT_TRUE(status.ok()) << status.error().message;
  TestClient after(launch_.socket);
  after.say(kHello + kStep);
  EXPECT_TRUE(next.until_said(Kind::Progress, name_, 1));
}

TEST_F(JobSocket, NothingButASocketIsReplaced) {
  Launch other = example();
  other.job = JobId{8};
  other.socket = folder_ / "s/8.3.0";
  folder_.write("s/8.3.0", "precious");
  const Status status = post_.sockets().listen(other);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, other.socket + ": is there and no socket; remove it");
  EXPECT_EQ(read_word(other.socket), "precious");
}

TEST_F(JobSocket, IsRemovedWithItsJob) {
  TestClient client = greeted();
  post_.sockets().close(name_);
  EXPECT_TRUE(client.closed());
  EXPECT_FALSE(std::filesystem::exists(launch_.socket));
  EXPECT_FALSE(post_.sockets().say(name_, PrepareStop{}));
  post_.sockets().close(name_);
  post_.listen(example());
  greeted();
}

TEST_F(JobSocket, APathThatIsTooLongIsRefusedBeforeTheJobStarts) {
  const std::string deep = folder_ / std::string(100, 'd');
  TestPost post(deep);
  const auto path = post.sockets().path(launch_);
  ASSERT_FALSE(path.ok());
  EXPECT_NE(path.error().message.find("at most 107"), std::string::npos) << path.error().message;
}

TEST_F(JobSocket, ADirectoryThatIsNotOursIsRefused) {
  folder_.write("file", "");
  EXPECT_FALSE(JobSockets::open(folder_ / "file").ok());
  ASSERT_EQ(::symlink((folder_ / "s").c_str(), (folder_ / "link").c_str()), 0);
  EXPECT_FALSE(JobSockets::open(folder_ / "link").ok());
  EXPECT_FALSE(JobSockets::open(folder_ / "no/where").ok());
}

TEST_F(JobSocket, WithoutDescriptorsLeftNewcomersAreTurnedAway) {
  TestClient client = greeted();
  TestClient late = connect();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 100;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<Fd> others;
  do others.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  while (others.back().ok());
  post_.sockets().on_ready(boot_time(), post_.words());
  pollfd wait{.fd = post_.sockets().fd(), .events = POLLIN, .revents = 0};
  const int waiting = ::poll(&wait, 1, 0);
  others.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(waiting, 0) << "nothing is left that would keep the agent awake";
  EXPECT_TRUE(late.closed());
  client.say(kStep);
  EXPECT_TRUE(post_.until_said(Kind::Progress, name_, 1));
}

}  // namespace
}  // namespace orrery
