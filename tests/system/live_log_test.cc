// A scheduler whose log was lost, damaged or replaced by a copy, and clients during its absence.
#include <pwd.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "system/live.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class LiveLog : public LiveTest {
 protected:
  std::unique_ptr<Background> start(const Words& more = {}) {
    Words words = {"--lease", "1s"};
    words.insert(words.end(), more.begin(), more.end());
    return serve(words);
  }
  std::string database() const { return state() + "/orrery.db"; }
  JobNumber submit(const JobRequest& request) {
    const auto answer = RpcClient(admin()).submit({.job = request, .key = request.name});
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return answer.ok() ? answer.value().first : 0;
  }
  JobRequest patient_job(const std::string& name) {
    return careful_job(name, "until [ -e " + file("go") + " ]; do sleep 0.05; done");
  }
  void let_go() { std::ofstream(file("go")) << "\n"; }
  bool is(const std::string& name, const std::string& state) {
    const auto found = node(name);
    return found && found->state == state;
  }
  bool runs(JobNumber id) {
    const auto found = job(id);
    return found && found->state == JobState::Running;
  }
  void expect_refused(const std::vector<std::string>& parts) {
    const Finished refused = run_orrery({"serve", "--state", state()});
    EXPECT_NE(refused.exit_code, 0);
    for (const std::string& part : parts) {
      EXPECT_NE(refused.err.find(part), std::string::npos) << part << '\n' << refused.err;
    }
  }
};

TEST_F(LiveLog, ABackupThatIsPutBackGoesOnWithTheJobsThatRun) {
  auto scheduler = start();
  const auto worker = agent("n", {"--gpus", "2"});
  ASSERT_TRUE(eventually([&] { return is("n", "up"); })) << worker->errors();
  const JobNumber first = submit(patient_job("first"));
  ASSERT_TRUE(eventually([&] { return ran().size() == 1; }));
  const Finished backup = run_orrery({"backup", "--state", state(), "-o", file("backup")});
  ASSERT_EQ(backup.exit_code, 0) << backup.err;
  const JobNumber second = submit(patient_job("second"));
  ASSERT_TRUE(eventually([&] { return ran().size() == 2; }));
  EXPECT_NE(run_orrery({"restore", "--state", state(), file("backup")}).exit_code, 0)
      << "a scheduler runs";
  scheduler->kill();
  const Finished restored = run_orrery({"restore", "--state", state(), file("backup")});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  scheduler = start();
  ASSERT_TRUE(eventually([&] { return is("n", "up"); })) << worker->errors();
  EXPECT_TRUE(runs(first));
  EXPECT_FALSE(job(second)) << "it was submitted after the copy";
  const JobNumber third = submit(careful_job("third", "true"));
  EXPECT_EQ(third, 1'000'001);
  EXPECT_TRUE(eventually([&] { return job(third)->state == JobState::Done; }));
  let_go();
  EXPECT_TRUE(eventually([&] { return job(first)->state == JobState::Done; }));
  EXPECT_EQ(clashes(), "");
}

TEST_F(LiveLog, AFlippedByteInTheWriteAheadLogIsNamedAndNotPassedOver) {
  auto scheduler = start();
  for (const std::string number : {"0", "1", "2"}) {
    submit({.argv = {"needle-" + number}, .name = "job-" + number});
  }
  scheduler->kill();
  std::string bytes;
  {
    std::ifstream in(database() + "-wal", std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    bytes = all.str();
  }
  const std::size_t at = bytes.find("needle-1");
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  std::ofstream(database() + "-wal", std::ios::binary | std::ios::trunc) << bytes;
  expect_refused({"missing", "acknowledged", "orrery restore"});
  const Finished restored = run_orrery({"restore", "--state", state(), "--as-is"});
  ASSERT_EQ(restored.exit_code, 0) << restored.err;
  scheduler = start();
  EXPECT_EQ(status().jobs.size(), 1u);
}

TEST_F(LiveLog, ALostLogIsNotTakenForANewScheduler) {
  auto scheduler = start();
  const auto worker = agent("n", {"--gpus", "1"});
  ASSERT_TRUE(eventually([&] { return is("n", "up"); })) << worker->errors();
  const JobNumber old = submit(patient_job("old"));
  ASSERT_TRUE(eventually([&] { return ran().size() == 1; }));
  scheduler->kill();
  for (const char* end : {"", "-wal", "-mark"}) fs::remove(database() + end);
  expect_refused({"missing", "orrery restore", "--new-log"});
  std::ofstream{database()};
  fs::permissions(database(), fs::perms::owner_read | fs::perms::owner_write);
  expect_refused({"empty", "--new-log"});
  fs::remove(database());
  scheduler = start({"--new-log"});
  ASSERT_TRUE(eventually([&] { return is("n", "refusing"); })) << worker->errors();
  EXPECT_NE(worker->errors().find("refuses orders"), std::string::npos) << worker->errors();
  EXPECT_NE(node("n")->note.find("--replace-log"), std::string::npos);
  const JobNumber fresh = submit(careful_job("fresh", "true"));
  EXPECT_GT(fresh, old);
  ASSERT_EQ(ask({"drain", "n", "--replace-log"}).exit_code, 0);
  EXPECT_TRUE(eventually([&] { return job(fresh)->state == JobState::Done; })) << worker->errors();
  EXPECT_TRUE(is("n", "up"));
}

TEST_F(LiveLog, RemoteFollowersOutlastARestart) {
  auto scheduler = start({"--local", "--gpus", "1"});
  const passwd* self = ::getpwuid(::geteuid());
  ASSERT_NE(self, nullptr);
  const std::string own = join("operator", self->pw_name);
  const auto remote = [&](const Words& words) {
    Words all = {words.front(), "--server", address(), "--credentials", own};
    all.insert(all.end(), words.begin() + 1, words.end());
    return all;
  };
  Background waits(remote({"submit", "--wait", "--", "sh", "-c",
                           "echo begun; until [ -e " + file("go") + " ]; do sleep 0.05; done"}),
                   file("waits.err"));
  ASSERT_TRUE(eventually([&] { return runs(1); })) << waits.errors();
  Background events(remote({"events", "-f"}), file("events.err"));
  Background logs(remote({"logs", "-f", "1"}), file("logs.err"));
  // A command that had no answer yet gives up after seconds.
  ASSERT_TRUE(eventually([&] { return !events.output().empty() && !logs.output().empty(); }))
      << events.errors() << logs.errors();
  for (const bool killed : {true, false}) {
    killed ? scheduler->kill() : static_cast<void>(scheduler->stop());
    scheduler = start({"--local", "--gpus", "1"});
  }
  ASSERT_TRUE(eventually([&] { return runs(1); }));
  EXPECT_FALSE(events.end()) << events.errors();
  EXPECT_FALSE(logs.end()) << logs.errors();
  let_go();
  EXPECT_TRUE(eventually([&] { return waits.end().has_value(); }));
  EXPECT_EQ(waits.end(), 0) << waits.errors();
  EXPECT_TRUE(eventually([&] { return logs.end().has_value(); }));
  EXPECT_EQ(logs.end(), 0) << logs.errors();
  EXPECT_FALSE(events.end()) << events.errors();
}

}  // namespace
}  // namespace orrery
