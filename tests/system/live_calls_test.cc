#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <thread>

#include "live/unix_socket/client.h"
#include "system/live.h"

namespace orrery {
namespace {

struct WrongCall {
  Words words;
  std::vector<std::string> said;
};

// A wrong call is refused without a scheduler.
TEST(LiveCalls, WrongOnesAreRefusedWithWhatToWriteInstead) {
  const TestFolder folder;
  const std::string file = folder.write("job.toml", "command = [\"a\"]\n\nmemry = \"16G\"\n");
  const std::string trace = folder.write("t.csv", "x");
  const std::vector<WrongCall> calls = {
      {{"submit", "--gpus", "two", "--", "a"}, {"--gpus: 'two'", "whole number"}},
      {{"submit", "train.sh"}, {"'train.sh'", "after --"}},
      {{"submit", "--gpu", "2", "--", "a"}, {"--gpu", "--gpus"}},
      {{"submit"}, {"after --"}},
      {{"submit", "--file", file}, {file + ":3: ", "'memry'", "'memory'"}},
      {{"status", "--state", folder.file("none")}, {"no such state directory", "orrery serve"}},
      {{"status", "--server", "head"}, {"--server: 'head'", "HOST:PORT"}},
      {{"cancel", "all", "--state", "x"}, {"'all'", "17-20"}},
      {{"whatif", "--trace", trace, "--state", "x"}, {"--trace", "--state"}},
      {{"whatif", "--trace", trace, "--policy", "las"}, {"--cluster"}},
      {{"whatif", "--trace", trace, "--cluster", "2x8"}, {"--policy"}},
      {{"whatif", "--state", "x", "--cluster", "2x8"}, {"--cluster", "its own"}},
      {{"record", "--state", "x", "--policy", "las", "-o", "y"}, {"--policy", "its own"}},
      {{"record", "--trace", trace, "--policy", "las", "-o", "y"}, {"--cluster"}},
  };
  for (const WrongCall& call : calls) {
    SCOPED_TRACE(testing::PrintToString(call.words));
    const Finished run = run_orrery(call.words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    for (const std::string& part : call.said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
    }
  }
}

TEST(LiveCalls, ASchedulerThatIsNotThereIsAFailureAndNotAWrongCall) {
  const TestFolder folder;
  const Finished run =
      run_orrery({"submit", "--state", folder.path(), "--", "a", "[1,2]", "--help"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("says no address"), std::string::npos) << run.err;
}

class LiveUnixSocket : public LiveTest {};

TEST_F(LiveUnixSocket, CommandsGoByTheSocketAndWithoutItOverTheNetwork) {
  const auto scheduler = serve({});
  ASSERT_TRUE(std::filesystem::is_socket(state() + "/socket"));
  // Without its certificate there is no way but the socket.
  std::filesystem::rename(state() + "/trust/admin.pem", file("admin.pem"));
  const Finished local = ask({"submit", "--json", "--time", "1m", "--", "/bin/true"});
  EXPECT_EQ(local.out, "{\"id\":1}\n") << local.err;
  std::filesystem::remove(state() + "/socket");
  const Finished neither = ask({"submit", "--json", "--time", "1m", "--", "/bin/true"});
  EXPECT_EQ(neither.exit_code, 1);
  EXPECT_NE(neither.err.find("admin.pem"), std::string::npos) << neither.err;
  std::filesystem::rename(file("admin.pem"), state() + "/trust/admin.pem");
  const Finished far = ask({"submit", "--json", "--time", "1m", "--", "/bin/true"});
  EXPECT_EQ(far.out, "{\"id\":2}\n") << far.err;
  EXPECT_EQ(far.err, "");
  EXPECT_EQ(scheduler->stop(), 0);
}

// The certificate names the address, so clients elsewhere that connect by it verify the scheduler.
TEST_F(LiveUnixSocket, TheAddressThatItListensOnIsInItsCertificate) {
  const Background scheduler({"serve", "--state", state(), "--listen", "127.0.0.2:0"},
                             file("serve.err"));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(state() + "/address"); }))
      << scheduler.errors();
  const std::string credentials = join("user", "bob");
  const Finished far =
      run_orrery({"nodes", "--server", address(), "--credentials", credentials, "--json"});
  EXPECT_EQ(far.exit_code, 0) << far.err;
  EXPECT_EQ(address().substr(0, 9), "127.0.0.2");
}

TEST_F(LiveUnixSocket, AnotherLoginIsAUserUnderItsOwnName) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms(0755));
  const auto scheduler = serve({});
  constexpr uid_t kDaemon = 1;
  std::optional<Result<SubmitAnswer>> mine;
  std::optional<Result<SubmitAnswer>> theirs;
  Status policy;
  // The system's own call changes the calling thread alone.
  std::thread([&] {
    ASSERT_EQ(::syscall(SYS_setresuid, -1, kDaemon, -1), 0);
    UnixSocketClient socket({.path = state() + "/socket"});
    mine = socket.submit({.job = {.argv = {"a"}}});
    theirs = socket.submit({.job = {.argv = {"a"}, .user = "root"}});
    policy = socket.set_policy({.policy = "srtf"});
  }).join();
  ASSERT_TRUE(mine->ok()) << mine->error().message;
  EXPECT_EQ(job(mine->value().first)->user, "daemon");
  EXPECT_EQ(theirs->error().code, Code::PermissionDenied);
  EXPECT_EQ(policy.error().code, Code::PermissionDenied);
  EXPECT_EQ(scheduler->stop(), 0);
  EXPECT_FALSE(std::filesystem::exists(state() + "/socket"));
}

}  // namespace
}  // namespace orrery
