#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "attack/attack.h"

// What another login can read of a scheduler's and an agent's files, and what it can put in their
// place.

namespace orrery {
namespace {

namespace fs = std::filesystem;

// True if the login can open the path, tried by a process with its user id.
bool can_open(const Login& login, const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    const bool is_login = initgroups(login.name().c_str(), login.uid()) == 0 &&
                          setgid(login.uid()) == 0 && setuid(login.uid()) == 0;
    _exit(!is_login || open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0 ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

mode_t mode_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

class AttackOnFiles : public AttackTest {
 protected:
  void SetUp() override {
    if (!with_logins()) GTEST_SKIP() << logins().why;
  }
  void TearDown() override { umask(before_); }

  // Everything below the folder that another login can open, by its path there.
  static Words open_to(const Login& login, const std::string& folder) {
    Words found;
    if (can_open(login, folder)) found.emplace_back("/");
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_socket() || !can_open(login, entry.path().string())) continue;
      found.push_back(entry.path().string().substr(folder.size()));
    }
    std::ranges::sort(found);
    return found;
  }
  Finished as(const Login& login, const Words& words) const {
    return run_orrery(words, {.folder = "/", .login = login.name()});
  }
  Finished bobs(const Words& words) const {
    Words all = {words.front(), "--state", state()};
    all.insert(all.end(), words.begin() + 1, words.end());
    return as(bob(), all);
  }
  std::string bobs_folder() const {
    const std::string folder = file("bobs");
    fs::create_directory(folder);
    EXPECT_EQ(chown(folder.c_str(), bob().uid(), bob().uid()), 0);
    return folder;
  }

  const mode_t before_ = umask(0);  // the widest there is
};

TEST_F(AttackOnFiles, AnotherLoginReadsNothingOfASchedulerOfOneOwner) {
  const auto scheduler = serve_as_ann({"--local", "--gpus", "1"});
  const Words job = {"submit",        "--state", anns_state(), "--wait", "--env",
                     "PASSWORD=hush", "--",      "echo",       "secret"};
  ASSERT_EQ(as(ann(), job).exit_code, 0);
  ASSERT_TRUE(fs::exists(anns_state() + "/agent/logs/1.0.log"));
  EXPECT_EQ(open_to(bob(), anns_state()), Words{});
  EXPECT_EQ(mode_of(anns_state()), 0700u);
  for (const auto& entry : fs::recursive_directory_iterator(anns_state())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(mode_of(entry.path()), 0600u) << entry.path();
  }
  const std::string record = file("record.jsonl");
  ASSERT_EQ(run_orrery({"record", "--state", anns_state(), "-o", record}).exit_code, 0);
  EXPECT_EQ(mode_of(record), 0600u);
}

TEST_F(AttackOnFiles, OfRootsSchedulerOtherLoginsReadItsAddressAlone) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  ASSERT_EQ(ask({"submit", "--wait", "--env", "PASSWORD=hush", "--", "echo", "secret"}).exit_code,
            0);
  EXPECT_EQ(open_to(bob(), state()), (Words{"/address", "/rest"}));
  EXPECT_EQ(mode_of(state()), 0711u);
  EXPECT_EQ(bobs({"submit", "--wait", "--", "true"}).exit_code, 0) << "it serves bob";
  expect_refused(bobs({"logs", "1"}), {"logs", "only for what is their own"});
}

TEST_F(AttackOnFiles, AStateThatOthersCouldReadIsRefusedByName) {
  serve({})->stop();
  const std::string database = state() + "/orrery.db";
  fs::permissions(database, fs::perms(0644));
  expect_refused(run_orrery({"serve", "--state", state()}), {database, "other users", "chmod 600"});
  fs::permissions(database, fs::perms(0600));
  fs::permissions(state(), fs::perms(0755));
  expect_refused(run_orrery({"serve", "--state", state()}),
                 {state(), "other users", "chmod go-rw"});
  fs::permissions(state(), fs::perms(0700));
  serve({})->stop();
}

TEST_F(AttackOnFiles, LinksAndPipesInPlaceOfAStateAreRefusedAndHoldNothingUp) {
  const std::string theirs = bobs_folder() + "/state";
  fs::create_symlink(file("target"), theirs);
  ASSERT_EQ(lchown(theirs.c_str(), bob().uid(), bob().uid()), 0);
  fs::create_directory(file("target"));
  expect_refused(run_orrery({"serve", "--state", theirs}), {theirs, "is a link"});
  EXPECT_TRUE(fs::is_empty(file("target")));

  const std::string squatted = bobs_folder() + "/squatted";
  fs::create_directory(squatted);
  ASSERT_EQ(chown(squatted.c_str(), bob().uid(), bob().uid()), 0);
  expect_refused(run_orrery({"serve", "--state", squatted}), {squatted, "belongs to"});
  expect_refused(run_orrery({"agent", "--state", squatted, "--server", "127.0.0.1:1"}), {});

  for (const char* name : {"orrery.db", "port"}) {
    SCOPED_TRACE(name);
    const std::string folder = file(std::string("pipe-") + name);
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms(0700));
    ASSERT_EQ(mkfifo((folder + "/" + name).c_str(), 0600), 0);
    expect_refused(run_orrery({"serve", "--state", folder}), {name, "is no file"});
  }
}

// Output and directories are opened with the rights of the job's user, and read back only where
// they still are that user's.
TEST_F(AttackOnFiles, AJobsOutputLeadsToNoFileOfAnotherUser) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string secret = folder_.write("secret", "of root\n");
  fs::permissions(secret, fs::perms(0600));
  const std::string link = bobs_folder() + "/out";
  fs::create_symlink(secret, link);
  expect_refused(bobs({"submit", "--wait", "--output", link, "--", "echo", "mine"}),
                 {"could not be started", "Permission denied"});
  const std::string winding = bobs_folder() + "/../secret";
  expect_refused(bobs({"submit", "--wait", "--output", winding, "--", "echo", "mine"}),
                 {"could not be started", "Permission denied"});
  EXPECT_EQ(file_text(secret), "of root\n");

  fs::remove(link);
  const std::string swaps = "echo mine; rm " + link + "; ln -s " + secret + " " + link +
                            "; touch " + link + "-swapped; sleep 60";
  EXPECT_EQ(bobs({"submit", "--output", link, "--", "sh", "-c", swaps}).exit_code, 0);
  ASSERT_TRUE(eventually([&] { return fs::exists(link + "-swapped"); }));
  const auto read = RpcClient(admin()).logs({.id = 3});
  ASSERT_FALSE(read.ok()) << "what is root's is read as bob's: " << read.value().bytes;
  EXPECT_NE(read.error().message.find("does not belong to the job's user"), std::string::npos);
  EXPECT_EQ(bobs({"cancel", "3"}).exit_code, 0);

  const std::string pipe = bobs_folder() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  expect_refused(bobs({"submit", "--wait", "--output", pipe, "--", "true"}),
                 {"a pipe that no process reads"});
}

TEST_F(AttackOnFiles, AJobsDirectoriesAndEnvironmentGiveItNoRightsButItsOwn) {
  const auto scheduler = serve({"--local", "--gpus", "1"});
  const std::string closed = file("closed");
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms(0700));
  expect_refused(bobs({"submit", "--wait", "--dir", closed, "--", "true"}),
                 {"could not be started", "Permission denied"});
  const std::string where = bobs_folder() + "/found";
  const std::string script =
      "id -un >" + where + "; cat /proc/self/status | grep CapEff >>" + where +
      "; mkdir -p $ORRERY_CHECKPOINT_DIR && ls -a $ORRERY_CHECKPOINT_DIR/.. >>" + where;
  EXPECT_EQ(bobs({"submit", "--wait", "--env", "USER=root", "--env", "HOME=/root", "--env",
                  "LD_PRELOAD=/nowhere.so", "--env", "ORRERY_LAUNCH=x", "--env",
                  "ORRERY_CHECKPOINT_DIR=" + closed, "--", "sh", "-c", script})
                .exit_code,
            0);
  const std::string found = file_text(where);
  EXPECT_TRUE(found.starts_with(bob().name() + "\nCapEff:\t0000000000000000\n")) << found;
  EXPECT_TRUE(fs::is_empty(closed)) << "the folder for checkpoints is the scheduler's to say";
}

}  // namespace
}  // namespace orrery
