#include <fstream>

#include "attack/attack.h"

// What a login can make a scheduler or an agent do that belongs to another login.

namespace orrery {
namespace {

namespace fs = std::filesystem;

class AttackByALogin : public AttackTest {
 protected:
  void SetUp() override {
    if (!with_logins()) GTEST_SKIP() << logins().why;
  }

  // A job that leaves a file with the name of the user it runs as, where every user may write.
  Words marker_job() {
    const std::string place = file("marks");
    fs::create_directory(place);
    fs::permissions(place, fs::perms::all);
    return {"--", "sh", "-c", "id -un >" + place + "/$$"};
  }
  Words marks() const {
    Words found;
    for (const auto& entry : fs::directory_iterator(file("marks"))) {
      found.push_back(file_text(entry.path().string()));
    }
    return found;
  }
  static Words command(const std::string& name, const std::string& state, const Words& rest) {
    Words words = {name, "--state", state};
    words.insert(words.end(), rest.begin(), rest.end());
    return words;
  }
  Finished as(const Login& login, const Words& words) {
    return run_orrery(words, {.folder = "/", .login = login.name()});
  }
};

TEST_F(AttackByALogin, ASchedulerThatIsNotRootRunsNoCommandOfAnotherLogin) {
  const auto scheduler = serve_as_ann({"--local", "--gpus", "1"});
  expect_refused(as(bob(), command("submit", anns_state(), marker_job())),
                 {"permission denied", ann().name()});
  expect_refused(as(bob(), command("status", anns_state(), {})), {"permission denied"});
  EXPECT_EQ(marks(), Words{});
  Words own = marker_job();
  own.insert(own.begin(), "--wait");
  EXPECT_EQ(as(ann(), command("submit", anns_state(), own)).exit_code, 0);
  EXPECT_EQ(marks(), Words{ann().name() + "\n"});
  EXPECT_EQ(run_orrery(command("status", anns_state(), {})).exit_code, 0) << "root is served";
}

TEST_F(AttackByALogin, WithOtherUsersItStillRunsNothingOfTheirsAsItsOwner) {
  const auto scheduler = serve_as_ann({"--local", "--gpus", "1", "--other-users"});
  ASSERT_TRUE(eventually([&] {
    return as(bob(), command("nodes", anns_state(), {})).out.find("up") != std::string::npos;
  })) << as(bob(), command("nodes", anns_state(), {})).err
      << scheduler->errors();
  expect_refused(as(bob(), command("submit", anns_state(), marker_job())),
                 {"permission denied", ann().name(), bob().name()});
  EXPECT_EQ(marks(), Words{});
}

TEST_F(AttackByALogin, AnAgentThatIsNotRootRefusesAJobThatTheSchedulerGivesIt) {
  const auto scheduler = serve({});
  Words patient = marker_job();
  patient.insert(patient.begin(), {"--retries", "3"});
  EXPECT_EQ(as(bob(), command("submit", state(), patient)).exit_code, 0) << "no node is there yet";
  const std::string credentials = join("agent", "anns");
  for (const auto& entry : fs::directory_iterator(credentials)) {
    EXPECT_EQ(chown(entry.path().c_str(), ann().uid(), ann().uid()), 0);
  }
  EXPECT_EQ(chown(credentials.c_str(), ann().uid(), ann().uid()), 0);
  const Background agent({"agent", "--state", anns_folder() + "/agent", "--server", address(),
                          "--credentials", credentials, "--name", "anns", "--gpus", "1"},
                         file("anns-agent.err"), ann().name());
  ASSERT_TRUE(eventually([&] {
    const auto found = job(1);
    return found && found->state == JobState::Failed;
  })) << agent.errors();
  const auto failed = job(1);
  for (const std::string& part : {std::string("permission denied"), ann().name(), bob().name()}) {
    EXPECT_NE(failed->reason.find(part), std::string::npos) << failed->reason;
  }
  EXPECT_EQ(failed->epoch, 1) << "a refusal is final";
  EXPECT_EQ(marks(), Words{});
  expect_refused(as(bob(), command("submit", state(), marker_job())),
                 {"permission denied", ann().name(), bob().name()});
}

TEST_F(AttackByALogin, ACertificateOfAnotherUserOpensNoSchedulerOfOneOwner) {
  std::string server;
  {
    const auto scheduler = serve_as_ann({"--other-users"});
    std::getline(std::ifstream(anns_state() + "/address"), server);
    const Finished token =
        run_orrery(command("token", anns_state(), {"--role", "operator", "--name", "bob"}));
    ASSERT_EQ(token.exit_code, 0) << token.err;
    const std::string file_of_token = folder_.write("token", token.out);
    const Finished joined =
        run_orrery({"join", "--server", server, "--credentials", file("bobs"), "--role", "operator",
                    "--name", "bob", "--token-file", file_of_token});
    ASSERT_EQ(joined.exit_code, 0) << joined.err;
    const Words there = {"status", "--server", server, "--credentials", file("bobs")};
    EXPECT_EQ(run_orrery(there).exit_code, 0);
  }
  const auto scheduler = serve_as_ann();
  std::getline(std::ifstream(anns_state() + "/address"), server);
  expect_refused(run_orrery({"status", "--server", server, "--credentials", file("bobs")}),
                 {"permission denied", ann().name(), "bob", "--other-users"});
  expect_refused(
      run_orrery({"submit", "--server", server, "--credentials", file("bobs"), "--", "true"}),
      {"permission denied"});
  expect_refused(run_orrery(command("token", anns_state(), {"--role", "user", "--name", "bob"})),
                 {"permission denied", "--other-users"});
  const RestReply over_rest = rest_jobs(anns_state(), file("bobs/client"));
  EXPECT_EQ(over_rest.status, 403);
  for (const std::string& part : {std::string("permission denied"), ann().name()}) {
    EXPECT_NE(over_rest.body.find(part), std::string::npos) << over_rest.body;
  }
  EXPECT_EQ(rest_jobs(anns_state(), anns_state() + "/trust/admin").status, 200);
}

}  // namespace
}  // namespace orrery
