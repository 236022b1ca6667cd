#include "commands/local_client/local_client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/test_folder.h"
#include "live/api/fake_api.h"
#include "live/unix_socket/server.h"

namespace orrery {
namespace {

constexpr int kWhole = 42;

// Runs `orrery WORDS` in a child of this test. It exits with kWhole if the whole program is asked.
class LocalClientTest : public testing::Test {
 protected:
  LocalClientTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  [[noreturn]] static void run(std::vector<std::string> words) {
    words.insert(words.begin(), "orrery");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::exit(run_local_client(static_cast<int>(words.size()), pointers.data(),
                               [](char**) { ::_exit(kWhole); }));
  }
  // The same with a scheduler at the socket of the state folder.
  [[noreturn]] static void run_with_scheduler(const std::vector<std::string>& more) {
    const TestFolder state;
    state.write("address", "127.0.0.1:7077\n");
    FakeApi api;
    api.answers["nodes"] = NodesAnswer{.nodes = {{.name = "n1"}}};
    api.answers["drain"] = Error{Code::PermissionDenied, "operators only"};
    const auto server = UnixSocketServer::start(
        {.path = state / "socket",
         .identify = [](uid_t) { return Caller{.role = Caller::Role::Admin, .name = "ann"}; }},
        api);
    if (!server.ok()) std::exit(99);
    std::vector<std::string> words = {more.front(), "--state", state.path()};
    words.insert(words.end(), more.begin() + 1, more.end());
    run(std::move(words));
  }
};

using Words = std::vector<std::string>;

TEST_F(LocalClientTest, AnswersFromTheSocketWithoutTheWholeProgram) {
  EXPECT_EXIT(run_with_scheduler({"nodes", "--json"}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(run_with_scheduler({"drain", "n1"}), testing::ExitedWithCode(1), "operators only");
}

TEST_F(LocalClientTest, LeavesEverythingElseToTheWholeProgram) {
  const TestFolder state;
  state.write("address", "127.0.0.1:7077\n");
  for (const Words& words : {Words{}, Words{"simulate", "--trace", "x"}, Words{"nodes", "--help"},
                             Words{"nodes", "--no-such-option"},
                             Words{"nodes", "--state", state.path()}, Words{"--version"}}) {
    EXPECT_EXIT(run(words), testing::ExitedWithCode(kWhole), "") << testing::PrintToString(words);
  }
}

TEST_F(LocalClientTest, AWholeProgramThatIsMissingIsNamed) {
  EXPECT_EXIT(exec_sibling("no-such-program", nullptr), testing::ExitedWithCode(1),
              "no-such-program: .*it belongs there, or in libexec/orrery");
}

}  // namespace
}  // namespace orrery
