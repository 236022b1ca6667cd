#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "system/live.h"

namespace orrery {
namespace {

void expect_refusal(const Finished& run, int exit_code, const std::vector<std::string>& said) {
  EXPECT_EQ(run.exit_code, exit_code) << run.err;
  EXPECT_TRUE(run.err.starts_with("orrery: ")) << run.err;
  for (const std::string& part : said) {
    EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
  }
}

// What comes back for bytes that a stranger sends, until the other side closes.
std::string answer_to(const std::string& address, const std::string& bytes) {
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  there.sin_port =
      htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  const int stranger = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  EXPECT_EQ(connect(stranger, reinterpret_cast<const sockaddr*>(&there), sizeof there), 0);
  send(stranger, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::string answer;
  std::array<char, 4096> buffer;
  ssize_t got = 0;
  while ((got = recv(stranger, buffer.data(), buffer.size(), 0)) > 0) {
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  }
  EXPECT_TRUE(got == 0 || errno == ECONNRESET) << "it is not closed";
  close(stranger);
  return answer;
}

class LiveBadInput : public LiveTest {
 protected:
  Finished as(const std::string& credentials, const Words& words) {
    Words all = {words.front(), "--server", address(), "--credentials", credentials};
    all.insert(all.end(), words.begin() + 1, words.end());
    return run_orrery(all);
  }
  void expect_well() {
    EXPECT_EQ(ask({"submit", "--wait", "--", "true"}).exit_code, 0) << "it serves on";
  }
};

TEST_F(LiveBadInput, WhatIsNotThereIsSaidSo) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  for (const char* command : {"status", "cancel", "logs"}) {
    SCOPED_TRACE(command);
    expect_refusal(ask({command, "99"}), 1, {"there is no job 99", "`orrery status --all`"});
  }
  expect_refusal(ask({"drain", "nowhere"}), 1, {"there is no node nowhere", "`orrery nodes`"});
  expect_refusal(ask({"resume", "nowhere"}), 1, {"there is no node nowhere"});
  expect_refusal(ask({"policy", "luck"}), 2, {"there is no policy 'luck'", "fifo"});
  expect_refusal(ask({"policy", "fifo", "--option", "luck=1"}), 2,
                 {"has no option 'luck'", "backfill"});
  expect_refusal(ask({"submit", "--after", "99", "--", "true"}), 1, {"there is no job 99"});
  expect_well();
}

TEST_F(LiveBadInput, AnOversizedCommandIsRefusedWithTheLimit) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  Words words = {"submit", "--", "true"};
  words.insert(words.end(), 15, std::string(100'000, 'a'));
  expect_refusal(ask(words), 2, {"at most 1048576", "in a file"});
  expect_well();
}

TEST_F(LiveBadInput, AUserDoesNoMoreThanAUserMay) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string bob = join("user", "bob");
  EXPECT_EQ(ask({"submit", "--", "sleep", "300"}).exit_code, 0);
  expect_refusal(as(bob, {"cancel", "1"}), 1, {"job 1 belongs to", "operators"});
  expect_refusal(as(bob, {"submit", "--user", "ann", "--", "true"}), 1,
                 {"user bob", "only for what is their own"});
  expect_refusal(as(bob, {"drain", "somewhere"}), 1, {"not for user bob", "operator"});
  expect_refusal(as(bob, {"policy", "las"}), 1, {"not for user bob"});
  expect_refusal(as(bob, {"token"}), 1, {"not for user bob", "admin"});
  EXPECT_EQ(as(bob, {"status"}).exit_code, 0);
  EXPECT_EQ(job(1)->state, JobState::Running);
  EXPECT_EQ(ask({"cancel", "1"}).exit_code, 0);
}

TEST_F(LiveBadInput, ATokenIsGoodOnceAndForItsTimeOnly) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const auto join_with = [&](const std::string& token_file, const std::string& name) {
    return run_orrery({"join", "--server", address(), "--role", "user", "--name", name,
                       "--credentials", file("new-" + name), "--token-file", token_file});
  };
  const std::string used =
      folder_.write("used", ask({"token", "--role", "user", "--name", "bob"}).out);
  expect_refusal(join_with(used, "eve"), 1, {"the token is not good here", "ask an admin"});
  EXPECT_EQ(join_with(used, "bob").exit_code, 0);
  expect_refusal(join_with(used, "bob"), 1, {"the token is not good here", "ask an admin"});

  const auto brief = std::chrono::steady_clock::now();
  const std::string old =
      folder_.write("old", ask({"token", "--role", "user", "--name", "old", "--valid", "1s"}).out);
  eventually([&] { return std::chrono::steady_clock::now() - brief > std::chrono::seconds(3); });
  expect_refusal(join_with(old, "old"), 1, {"the token is not good here", "ask an admin"});
  expect_refusal(join_with(folder_.write("junk", "orrery.1234\n"), "junk"), 2, {"no join token"});
  expect_refusal(join_with(folder_.write("none", ""), "none"), 2, {"holds no token"});
  EXPECT_FALSE(std::filesystem::exists(file("new-old")));
}

TEST_F(LiveBadInput, CredentialsOfAnotherAuthorityOpenNothing) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string other = file("other");
  {
    Background stranger({"serve", "--state", other}, file("other.err"));
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(other + "/address"); }));
    stranger.kill();
  }
  const std::string wrong = file("wrong");
  std::filesystem::create_directory(wrong);
  std::filesystem::permissions(wrong, std::filesystem::perms::owner_all);
  for (const char* name : {"ca.pem", "admin.pem", "admin.key"}) {
    std::string copy = name;
    if (copy.starts_with("admin")) copy.replace(0, 5, "client");
    std::filesystem::copy(other + "/trust/" + name, wrong + "/" + copy);
  }
  expect_refusal(as(wrong, {"status"}), 1, {address(), "certificate", "authority"});
  // A caller that knows our authority and has a certificate of another.
  std::filesystem::copy(state() + "/trust/ca.pem", wrong + "/ca.pem",
                        std::filesystem::copy_options::overwrite_existing);
  expect_refusal(as(wrong, {"cancel", "1"}), 1, {"certificate"});
  expect_well();
}

TEST_F(LiveBadInput, NoiseOnThePortIsCutOffAndHarmsNoCaller) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string zeros(100'000, '\0');
  for (const std::string& noise :
       {std::string("garbage\n"), std::string("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), zeros}) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(answer_to(address(), noise).find("job"), std::string::npos);
    }
  }
  expect_well();
}

TEST_F(LiveBadInput, ASecondSchedulerForAStateDirectoryIsTurnedAway) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string before = address();
  expect_refusal(run_orrery({"serve", "--local", "--state", state()}), 1,
                 {"another process holds this store", "stop it first"});
  EXPECT_EQ(address(), before);
  expect_well();
}

TEST_F(LiveBadInput, ASchedulerSaysWhatItCannotBeStartedWith) {
  const std::string taken = folder_.write("taken", "");
  expect_refusal(run_orrery({"serve", "--state", taken}), 1, {taken, "name a directory"});
  expect_refusal(run_orrery({"serve", "--state", "/proc/orrery"}), 1, {"name a directory"});
  expect_refusal(run_orrery({"serve", "--state", file("a"), "--policy", "luck"}), 2,
                 {"there is no policy 'luck'"});
  expect_refusal(run_orrery({"serve", "--state", file("b"), "--option", "luck"}), 2,
                 {"write key=value"});
  expect_refusal(run_orrery({"serve", "--state", file("c"), "--lease", "10ms"}), 2, {"--lease"});
  expect_refusal(run_orrery({"serve", "--state", file("d"), "--listen", "here"}), 2,
                 {"--listen", "HOST:PORT"});
  EXPECT_FALSE(std::filesystem::exists(file("d")));
}

TEST_F(LiveBadInput, AnAgentUnderANameInUseOrNotItsOwnIsTurnedAway) {
  {
    // A certificate for the name can be had while no node of the name is up.
    const auto without_nodes = serve({});
    join("agent", "here");
    without_nodes->stop();
  }
  const auto scheduler = serve({"--local", "--gpus", "1", "--name", "here"});
  ASSERT_TRUE(eventually([&] { return node("here").has_value(); }));
  const std::string token = folder_.write("token", ask({"token"}).out);
  expect_refusal(run_orrery({"join", "--server", address(), "--role", "agent", "--name", "here",
                             "--credentials", file("taken"), "--token-file", token}),
                 1, {"here is the name of a node that is up"});
  const auto in_use = agent("here");
  ASSERT_TRUE(eventually([&] { return in_use->end().has_value(); })) << "it stays";
  EXPECT_EQ(in_use->end(), 1);
  EXPECT_NE(in_use->errors().find("another agent is node here"), std::string::npos)
      << in_use->errors();
  EXPECT_NE(in_use->errors().find("--name"), std::string::npos) << in_use->errors();

  const auto not_its_own = std::make_unique<Background>(
      Words{"agent", "--state", file("there"), "--server", address(), "--credentials",
            join("agent", "there"), "--name", "elsewhere"},
      file("there.err"));
  ASSERT_TRUE(eventually([&] { return not_its_own->end().has_value(); })) << "it stays";
  EXPECT_EQ(not_its_own->end(), 1);
  EXPECT_NE(not_its_own->errors().find("elsewhere"), std::string::npos) << not_its_own->errors();
  expect_well();
}

TEST_F(LiveBadInput, AJobThatCannotBeOrIsEndedSaysHow) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  expect_refusal(ask({"submit", "--wait", "--time", "1m", "--", "/no/such/program"}), 1,
                 {"could not be started", "'/no/such/program'", "No such file"});
  expect_refusal(ask({"submit", "--wait", "--time", "1m", "--", "sh", "-c", "kill -9 $$"}), 137,
                 {"killed by signal 9"});
  expect_refusal(ask({"submit", "--wait", "--time", "1m", "--", "sh", "-c", "exit 3"}), 3,
                 {"exited with code 3"});
  const auto all = status().jobs;
  ASSERT_EQ(all.size(), 3u);
  for (const JobStatus& one : all) EXPECT_EQ(one.state, JobState::Failed);
  EXPECT_EQ(all[1].signal, 9);
  EXPECT_EQ(all[2].exit_code, 3);
  expect_well();
}

}  // namespace
}  // namespace orrery
