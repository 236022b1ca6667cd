#include "commands/programs/detach.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "base/test_folder.h"

namespace orrery {
namespace {

class DetachTest : public testing::Test {
 protected:
  std::string log() const { return folder_ / "serve.log"; }
  TestFolder folder_;
};

TEST_F(DetachTest, ReturnsWhenTheProcessIsReadyAndLeavesTheTerminal) {
  const std::string said = folder_ / "session";
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe(gate.data()), 0);
  const Status begun = run_detached([this] { return log(); },
                                    [&](const std::function<void()>& ready) -> Status {
                                      std::ofstream(said) << (::getsid(0) == ::getpid());
                                      ready();
                                      std::fprintf(stderr, "serves\n");
                                      return {};
                                    });
  ASSERT_TRUE(begun.ok()) << begun.error().message;
  std::string session;
  std::ifstream(said) >> session;
  EXPECT_EQ(session, "1");
  // The child has closed its end of the gate when it exits.
  ::close(gate[1]);
  char byte = 0;
  EXPECT_EQ(::read(gate[0], &byte, 1), 0);
  ::close(gate[0]);
  std::string line;
  std::getline(std::ifstream(log()), line);
  EXPECT_EQ(line, "serves");
  EXPECT_EQ(std::filesystem::status(log()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(DetachTest, AnErrorBeforeItIsReadyIsTheCallers) {
  const Status begun = run_detached([this] { return log(); },
                                    [](const std::function<void()>&) -> Status {
                                      return Error{Code::PermissionDenied, "the port is taken"};
                                    });
  ASSERT_FALSE(begun.ok());
  EXPECT_EQ(begun.error().code, Code::PermissionDenied);
  EXPECT_EQ(begun.error().message, "the port is taken");
  EXPECT_FALSE(std::filesystem::exists(log()));
}

TEST_F(DetachTest, AProcessThatDiesBeforeItIsReadyIsAnError) {
  const Status begun = run_detached([this] { return log(); },
                                    [](const std::function<void()>&) -> Status { ::_exit(0); });
  ASSERT_FALSE(begun.ok());
  EXPECT_NE(begun.error().message.find("ended at once"), std::string::npos);
}

}  // namespace
}  // namespace orrery
