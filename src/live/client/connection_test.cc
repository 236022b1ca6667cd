#include "live/client/connection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

std::string refusal(const Result<Endpoint>& found) {
  return found.ok() ? "found " + found.value().address : found.error().message;
}

TEST(Connection, AStateDirectoryHasAnAddressItsOwnersCredentialsAndASocket) {
  const StateFolder state;
  const Endpoint wanted{.address = "127.0.0.1:7077",
                        .credentials = state.file("trust"),
                        .certificate = "admin",
                        .socket = state.file("socket")};
  EXPECT_EQ(find_scheduler({.state = state.path()}, {}).value(), wanted);
  EXPECT_EQ(find_scheduler({}, {{"ORRERY_STATE", state.path()}}).value(), wanted);
}

TEST(Connection, AServerIsMetWithCredentialsFromTheHomeDirectoryUnlessOthersAreNamed) {
  const StateFolder folder;
  folder.write("ca.pem", "certificate");
  const ConnectionArguments server{.server = "head:7077"};
  const Variables set{{"ORRERY_CREDENTIALS", folder.path()}, {"ORRERY_STATE", "/nowhere"}};
  const Endpoint wanted{
      .address = "head:7077", .credentials = folder.path(), .certificate = "client"};
  EXPECT_EQ(find_scheduler(server, set).value(), wanted) << "what is said wins over ORRERY_STATE";
  EXPECT_EQ(credentials_directory("", {{"HOME", "/home/ann"}}).value(), "/home/ann/.config/orrery");
  const std::string none = refusal(find_scheduler(server, {{"HOME", "/nowhere"}}));
  EXPECT_NE(none.find("orrery join --server head:7077"), std::string::npos) << none;
}

TEST(Connection, WhatIsMissingIsSaid) {
  const StateFolder state;
  std::filesystem::remove(state.file("address"));
  const auto unserved = find_scheduler({.state = state.path()}, {});
  ASSERT_FALSE(unserved.ok());
  EXPECT_EQ(unserved.error().code, Code::Unavailable);
  EXPECT_NE(unserved.error().message.find("orrery serve --local --state " + state.path()),
            std::string::npos);
  EXPECT_NE(refusal(find_scheduler({.state = "/nowhere"}, {})).find("no such state directory"),
            std::string::npos);
  EXPECT_NE(refusal(find_scheduler({}, {})).find("--state DIR"), std::string::npos);
  EXPECT_NE(refusal(find_scheduler({.state = "a", .server = "b:1"}, {})).find("leave out one"),
            std::string::npos);
  EXPECT_NE(refusal(find_scheduler({.credentials = "a"}, {})).find("--server"), std::string::npos);
}

TEST(Connection, AnAddressThatMayNotBeReadIsAQuestionOfPermission) {
  const StateFolder state;
  namespace fs = std::filesystem;
  fs::permissions(state.path(), fs::perms(0711));
  fs::permissions(state.file("address"), fs::perms::none);
  // Root reads whatever the mode is, so another user asks.
  const bool root = ::geteuid() == 0;
  ASSERT_TRUE(!root || ::seteuid(65534) == 0);
  const auto found = find_scheduler({.state = state.path()}, {});
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::PermissionDenied);
  for (const std::string& part :
       {std::string("permission denied"), std::string("chmod 644 ") + state.file("address")}) {
    EXPECT_NE(found.error().message.find(part), std::string::npos) << found.error().message;
  }
}

TEST(Connection, ASchedulerThatIsStartingIsWaitedFor) {
  const StateFolder state;
  std::filesystem::remove(state.file("address"));
  FakeCommandContext fake;
  fake.script.nodes = []() -> Result<NodesAnswer> { return NodesAnswer{}; };
  const auto pause = fake.context.pause;
  fake.context.pause = [&](Duration duration) {
    pause(duration);
    if (fake.now >= std::chrono::seconds(1)) state.write("address", "127.0.0.1:7077\n");
  };
  EXPECT_TRUE(call(fake, {"nodes", "--state", state.path()}).ok());
  EXPECT_GE(fake.now, Duration(std::chrono::seconds(1)));
  EXPECT_EQ(fake.reached.address, "127.0.0.1:7077");
}

TEST(Connection, ASchedulerThatDoesNotStartIsAnErrorAfterSomeSeconds) {
  FakeCommandContext fake;
  EXPECT_FALSE(call(fake, {"nodes", "--state", "/nowhere"}).ok());
  EXPECT_LT(fake.now, Duration(std::chrono::seconds(5)));
  fake.now = {};
  EXPECT_FALSE(call(fake, {"nodes", "--server", "no-address"}).ok());
  EXPECT_EQ(fake.now, Duration());
}

TEST(Connection, AnAddressIsAHostAndAPort) {
  for (const char* good : {"head:1", "10.0.0.1:65535", "[::1]:7077"}) {
    EXPECT_TRUE(check_address(good).ok()) << good;
  }
  for (const char* bad : {"", "head", "head:", ":7077", "head:0", "head:65536", "head:x",
                          "::1:7077", "a b:1", "http://head:1", "head:1 ", "[]:1"}) {
    EXPECT_FALSE(check_address(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace orrery
