#include "live/client/contexts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "live/client/testing/test_call.h"

namespace orrery {
namespace {

// A user with a home directory of their own, where nothing names a scheduler.
class ContextsTest : public testing::Test {
 protected:
  ContextsTest() {
    fake_.context.environment = {{"HOME", home_.path()}, {"USER", "ann"}, {"ORRERY_STATE", ""}};
    fake_.context.directory = home_.path();
    fake_.context.join = [this](const JoinOrder& order) {
      joined_.push_back(order);
      leave_certificate(order.credentials);
      return Result<std::string>(order.server);
    };
    fake_.script.nodes = [] { return NodesAnswer(); };
    fake_.input = "orrery.a.b";
  }

  std::string config() const { return home_ / ".config/orrery"; }
  void leave_certificate(const std::string& folder) const {
    for (const char* name : {"/ca.pem", "/client.pem"}) {
      home_.write(std::filesystem::relative(folder + name, home_.path()).string(), "certificate");
    }
  }
  Status say(const std::vector<std::string>& words) {
    fake_.out.clear();
    return call(fake_, words);
  }
  std::string refusal(const std::vector<std::string>& words) {
    const Status done = say(words);
    return done.ok() ? "done" : done.error().message;
  }

  TestFolder home_;
  FakeCommandContext fake_;
  std::vector<JoinOrder> joined_;
};

TEST_F(ContextsTest, JoinKeepsOneThatCommandsUseFromThenOn) {
  ASSERT_TRUE(say({"join", "--server", "head:7077"}).ok());
  EXPECT_EQ(joined_[0].credentials, config());
  EXPECT_NE(fake_.out.find("as context head"), std::string::npos) << fake_.out;
  struct stat found {};
  ASSERT_EQ(::stat((config() + "/contexts.json").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600U);
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "head:7077");
  EXPECT_EQ(fake_.reached.credentials, config());
}

TEST_F(ContextsTest, ASecondClusterGetsAFolderOfItsOwnAndIsNotUsedUntilItIsChosen) {
  ASSERT_TRUE(say({"join", "--server", "head:7077"}).ok());
  ASSERT_TRUE(say({"join", "--server", "lab:7077", "--context", "the-lab"}).ok());
  EXPECT_EQ(joined_[1].credentials, config() + "/the-lab");
  EXPECT_NE(fake_.out.find("orrery context use the-lab"), std::string::npos) << fake_.out;
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "head:7077");
  ASSERT_TRUE(say({"nodes", "--context", "the-lab"}).ok());
  EXPECT_EQ(fake_.reached.credentials, config() + "/the-lab");
  ASSERT_TRUE(say({"nodes", "--server", "lab:7077"}).ok());
  EXPECT_EQ(fake_.reached.credentials, config() + "/the-lab") << "a server has its context's";
  ASSERT_TRUE(say({"context", "use", "the-lab"}).ok());
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "lab:7077");
  ASSERT_TRUE(say({"join", "--server", "head:7077"}).ok());
  EXPECT_EQ(joined_[2].credentials, config()) << "the same cluster again";
}

TEST_F(ContextsTest, AgentsAndScrapersKeepNone) {
  ASSERT_TRUE(say({"join", "--server", "head:7077", "--role", "agent"}).ok());
  EXPECT_FALSE(std::filesystem::exists(config() + "/contexts.json"));
  EXPECT_NE(
      refusal({"join", "--server", "h:1", "--role", "agent", "--context", "x"}).find("--context"),
      std::string::npos);
}

TEST_F(ContextsTest, ACertificateElsewhereIsNoContextUnlessItIsNamed) {
  const std::string folder = home_ / "keys";
  ASSERT_TRUE(say({"join", "--server", "head:7077", "--credentials", folder}).ok());
  EXPECT_FALSE(std::filesystem::exists(config() + "/contexts.json"));
  ASSERT_TRUE(
      say({"join", "--server", "head:7077", "--credentials", folder, "--context", "x"}).ok());
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.credentials, folder);
}

TEST_F(ContextsTest, AFlagWinsOverTheEnvironmentAndThatOverTheCurrentOne) {
  const StateFolder state;
  const StateFolder other;
  ASSERT_TRUE(say({"context", "add", "here", "--state", state.path()}).ok());
  ASSERT_TRUE(say({"context", "add", "there", "--server", "head:7077"}).ok());
  leave_certificate(config());
  const auto named_by = [this](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"context", "show", "--output", "template={{named_by}}"};
    words.insert(words.end(), more.begin(), more.end());
    return say(words).ok() ? fake_.out : "refused";
  };
  EXPECT_EQ(named_by({}), "context here (" + config() + "/contexts.json)\n");
  fake_.context.environment["ORRERY_SERVER"] = "head:7077";
  EXPECT_EQ(named_by({}), "ORRERY_SERVER\n");
  EXPECT_EQ(named_by({"--context", "here"}), "context here (--context)\n");
  EXPECT_EQ(named_by({"--state", other.path()}), "the command line\n");
  fake_.context.environment["ORRERY_CONTEXT"] = "here";
  EXPECT_NE(refusal({"nodes"}).find("more than one is set"), std::string::npos);
  fake_.context.environment.erase("ORRERY_SERVER");
  EXPECT_EQ(named_by({}), "context here (ORRERY_CONTEXT)\n");
  EXPECT_NE(refusal({"nodes", "--context", "here", "--state", "x"}).find("leave out"),
            std::string::npos);
}

TEST_F(ContextsTest, TheDefaultStateDirectoryIsTheLastOneToBeTaken) {
  EXPECT_NE(refusal({"nodes"}).find("which scheduler?"), std::string::npos);
  home_.write(".local/state/orrery/address", "127.0.0.1:7077\n");
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "127.0.0.1:7077");
  home_.write("elsewhere/orrery/address", "127.0.0.1:8088\n");
  fake_.context.environment["XDG_STATE_HOME"] = home_ / "elsewhere";
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "127.0.0.1:8088");
  fake_.context.environment["XDG_STATE_HOME"] = "relative";
  ASSERT_TRUE(say({"nodes"}).ok());
  EXPECT_EQ(fake_.reached.address, "127.0.0.1:7077") << "XDG: relative paths do not count";
}

TEST_F(ContextsTest, AnErrorSaysWhichSchedulerWasAskedAndWhatNamedIt) {
  ASSERT_TRUE(say({"context", "add", "lab", "--server", "lab:7077"}).ok());
  EXPECT_EQ(refusal({"nodes"}).find("context lab (" + config() + "/contexts.json): "), 0U);
  leave_certificate(config());
  fake_.script.nodes = []() -> Result<NodesAnswer> {
    return Error{Code::PermissionDenied, "revoked"};
  };
  EXPECT_EQ(refusal({"nodes"}), "revoked [context lab (" + config() + "/contexts.json)]");
  EXPECT_EQ(refusal({"nodes", "--server", "lab:7077"}), "revoked");
}

TEST_F(ContextsTest, AreListedChangedAndRemoved) {
  ASSERT_TRUE(say({"context", "add", "lab", "--server", "lab:7077"}).ok());
  ASSERT_TRUE(say({"context", "add", "here", "--state", "state"}).ok());
  ASSERT_TRUE(say({"context", "--output", "template={{name}} {{current}} {{state}}"}).ok());
  EXPECT_EQ(fake_.out, "lab true \nhere false " + home_.file("state") + "\n");
  EXPECT_NE(refusal({"context", "use", "lap"}).find("did you mean lab?"), std::string::npos);
  ASSERT_TRUE(say({"context", "remove", "lab"}).ok());
  EXPECT_NE(fake_.out.find("its certificate is still in " + config()), std::string::npos);
  EXPECT_NE(refusal({"nodes"}).find("which scheduler?"), std::string::npos);
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"context", "add", "../x", "--server", "a:1"},
           {"context", "add", "x"},
           {"context", "add", "x", "--server", "a:1", "--state", "b"},
           {"context", "add", "x", "--server", "a"},
           {"context", "remove", "lab"}}) {
    EXPECT_FALSE(say(wrong).ok()) << wrong[2];
  }
}

TEST_F(ContextsTest, AFileThatIsNoneIsNamedAndLeftAsItIs) {
  for (const char* text : {"", "{", "[]", R"({"contexts":[{"name":"x"}]})",
                           R"({"contexts":[{"name":"../x","server":"a:1"}]})",
                           R"({"contexts":[{"name":"x","server":"a:1","more":1}]})"}) {
    const std::string file = home_.write(".config/orrery/contexts.json", text);
    EXPECT_NE(refusal({"nodes"}).find(file), std::string::npos) << text;
    EXPECT_FALSE(say({"context", "add", "y", "--server", "a:1"}).ok());
    EXPECT_EQ(read_file(file).value(), text);
  }
}

}  // namespace
}  // namespace orrery
