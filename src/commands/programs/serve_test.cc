#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/test_folder.h"
#include "commands/programs/commands.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class ServeTest : public testing::Test {
 protected:
  std::string refusal(const std::function<void(ServeArguments&)>& change) const {
    ServeArguments arguments{.state = state_};
    change(arguments);
    const Status served = serve_command(arguments);
    return served.ok() ? "" : served.error().message;
  }

  const TestFolder folder_;
  const std::string state_ = folder_ / "state";
};

TEST_F(ServeTest, WrongOptionsAreRefusedByNameBeforeAnythingIsMade) {
  struct Case {
    std::function<void(ServeArguments&)> change;
    std::string said;
  };
  const Case cases[] = {
      {[](auto& a) { a.listen = "here"; }, "--listen"},
      {[](auto& a) { a.rest = "127.0.0.1:99999"; }, "--rest"},
      {[](auto& a) { a.lease = "0s"; }, "--lease"},
      {[](auto& a) { a.node_timeout = "1s"; }, "--node-timeout"},
      {[](auto& a) { a.options = {"levels"}; }, "--option levels"},
      {[](auto& a) { a.gpus = 2; }, "--gpus is for the agent of this machine: add --local"},
      {[](auto& a) { a.name = "n1"; }, "--name is for the agent of this machine"},
      {[](auto& a) { a.limits.core = "1G"; }, "a limit of jobs is for the agent of this machine"},
  };
  for (const Case& one : cases) {
    EXPECT_NE(refusal(one.change).find(one.said), std::string::npos) << refusal(one.change);
  }
  EXPECT_FALSE(fs::exists(state_));
}

TEST_F(ServeTest, ASchedulerWhoseAgentCannotStartIsNotAnnouncedToClients) {
  const std::string said = refusal([this](ServeArguments& arguments) {
    arguments.local = true;
    arguments.gpus = 1;
    arguments.limits.cgroup = folder_ / "no-cgroup";
  });
  EXPECT_NE(said.find("is no cgroup with a memory controller"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(state_ + "/address"));
  EXPECT_FALSE(fs::exists(folder_ / "no-cgroup"));
}

TEST_F(ServeTest, AnAgentWithoutCredentialsIsRefusedWithTheWayToGetThem) {
  const Status run =
      agent_command({.state = state_, .server = "127.0.0.1:7077", .credentials = folder_ / "none"});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message.find("orrery join --role agent --server 127.0.0.1:7077"),
            std::string::npos)
      << run.error().message;
}

}  // namespace
}  // namespace orrery
