#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_folder.h"
#include "commands/programs/commands.h"
#include "live/daemon/server/server.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class RestoreTest : public testing::Test {
 protected:
  // A scheduler runs there and ends, so there is a log; `authority`: as `orrery serve` leaves it.
  void run_scheduler() const {
    auto server = SchedulerServer::start({.state = folder_.path()});
    ASSERT_TRUE(server.ok()) << server.error().message;
    ASSERT_TRUE(server.value()->stop().ok());
    write_authority();
  }
  void write_authority() const { folder_.write("trust/authority.pem", "a key"); }
  Status check(bool new_log) const { return check_log_is_there(folder_.path(), new_log); }
  static void expect_refused(const Status& status, const std::vector<std::string>& parts) {
    ASSERT_FALSE(status.ok());
    for (const std::string& part : parts) {
      EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    }
  }
  // Files of the log that were put under another name.
  int renamed(const std::string& infix) const {
    int found = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      found += entry.path().filename().string().starts_with("orrery.db" + infix) ? 1 : 0;
    }
    return found;
  }

  const TestFolder folder_;
  const std::string log_ = folder_ / "orrery.db";
};

TEST_F(RestoreTest, AFirstStartNeedsNoLog) {
  EXPECT_TRUE(check(false).ok());
  EXPECT_TRUE(check(true).ok());
  EXPECT_EQ(first_number_of_new_log(folder_.path()), 1);
}

TEST_F(RestoreTest, AMissingOrEmptyLogOfASchedulerThatRanIsAnErrorWithBothWaysOut) {
  write_authority();
  expect_refused(check(false), {"is missing", "orrery restore --state", "--new-log"});
  folder_.write("orrery.db", "");
  expect_refused(check(false), {"is empty", "orrery restore --state", "--new-log"});
  EXPECT_EQ(check(false).error().code, Code::DataLoss);
}

TEST_F(RestoreTest, ANewLogKeepsTheEmptyOneBesideItAndNeverReplacesAGoodOne) {
  write_authority();
  folder_.write("orrery.db", "");
  EXPECT_TRUE(check(true).ok());
  EXPECT_FALSE(fs::exists(log_));
  EXPECT_EQ(renamed(".lost-"), 1);
  EXPECT_GT(first_number_of_new_log(folder_.path()), 1) << "job numbers are not used again";
  run_scheduler();
  expect_refused(check(true), {"--new-log", "leave the option out"});
  EXPECT_TRUE(check(false).ok());
}

TEST_F(RestoreTest, NeedsABackupOrAsIs) {
  expect_refused(restore_command({.state = folder_.path()}), {"name the backup", "--as-is"});
  expect_refused(restore_command({.state = folder_.path(), .as_is = true}), {"no log to go on"});
  expect_refused(restore_command({.state = folder_.path(), .backup = folder_ / "none"}), {"none"});
}

TEST_F(RestoreTest, ABackupTakesThePlaceOfTheLogWhichStaysBesideIt) {
  run_scheduler();
  const std::string backup = folder_ / "backup.db";
  ASSERT_TRUE(backup_command({.state = folder_.path(), .output = backup}).ok());
  const Status restored = restore_command({.state = folder_.path(), .backup = backup});
  ASSERT_TRUE(restored.ok()) << restored.error().message;
  EXPECT_GE(renamed(".before-"), 1);
  EXPECT_TRUE(check(false).ok());
  run_scheduler();
}

TEST_F(RestoreTest, ALogThatASchedulerHoldsIsNotReplaced) {
  auto server = SchedulerServer::start({.state = folder_.path()});
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_FALSE(restore_command({.state = folder_.path(), .as_is = true}).ok());
  EXPECT_TRUE(server.value()->stop().ok());
}

}  // namespace
}  // namespace orrery
