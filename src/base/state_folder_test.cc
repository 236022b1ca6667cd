#include "base/state_folder.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

class StateFolder : public testing::Test {
 protected:
  ~StateFolder() override { umask(before_); }
  // A file with exactly this mode.
  std::string put(const std::string& name, mode_t mode) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << "what a job said";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  static void expect_refused(const Status& status, const std::vector<std::string>& parts) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::FailedPrecondition);
    for (const std::string& part : parts) {
      EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    }
  }

  const TestFolder above_;
  std::string path_ = above_ / "state";
  const mode_t before_ = umask(022);
};

TEST_F(StateFolder, HasItsModeWhateverTheUmaskIs) {
  for (const mode_t mask : {0000, 0022, 0077, 0777}) {
    umask(mask);
    const std::string own = above_.path() + "/own" + std::to_string(mask);
    const std::string shared = above_.path() + "/shared" + std::to_string(mask);
    ASSERT_TRUE(make_state_folder(own, Passage::None).ok()) << mask;
    ASSERT_TRUE(make_state_folder(shared, Passage::Others).ok()) << mask;
    EXPECT_EQ(mode_of(own), 0700u);
    EXPECT_EQ(mode_of(shared), 0711u);
    ASSERT_TRUE(make_private_file(own + "/log").ok());
    EXPECT_EQ(mode_of(own + "/log"), 0600u);
    umask(before_);
  }
}

TEST_F(StateFolder, ThatOthersCouldReadIsRefusedUnlessItIsEmpty) {
  for (const mode_t wide : {0755, 0750, 0770, 0733}) {
    ASSERT_TRUE(make_state_folder(path_, Passage::None).ok());
    put("log", 0600);
    ASSERT_EQ(chmod(path_.c_str(), wide), 0);
    expect_refused(make_state_folder(path_, Passage::None), {path_, "chmod go-rw"});
    expect_refused(make_state_folder(path_, Passage::Others), {path_, "chmod go-rw"});
    EXPECT_EQ(mode_of(path_), wide) << "it is not made private quietly";
    fs::remove(path_ + "/log");
    EXPECT_TRUE(make_state_folder(path_, Passage::None).ok());
    EXPECT_EQ(mode_of(path_), 0700u);
  }
}

TEST_F(StateFolder, ThatOthersCouldPassIsClosedAndOpenedAsAsked) {
  ASSERT_TRUE(make_state_folder(path_, Passage::Others).ok());
  put("log", 0600);
  ASSERT_TRUE(make_state_folder(path_, Passage::None).ok());
  EXPECT_EQ(mode_of(path_), 0700u);
  ASSERT_TRUE(make_state_folder(path_, Passage::Others).ok());
  EXPECT_EQ(mode_of(path_), 0711u);
}

TEST_F(StateFolder, OfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_TRUE(make_state_folder(path_, Passage::None).ok());
  ASSERT_EQ(chown(path_.c_str(), 1, 1), 0);
  expect_refused(make_state_folder(path_, Passage::None), {path_, "belongs to"});
  const std::string link = above_.path() + "/link";
  ASSERT_TRUE(make_state_folder(above_.path() + "/real", Passage::None).ok());
  fs::create_symlink(above_.path() + "/real", link);
  EXPECT_TRUE(make_state_folder(link, Passage::None).ok()) << "a link of one's own is followed";
  ASSERT_EQ(lchown(link.c_str(), 1, 1), 0);
  expect_refused(make_state_folder(link, Passage::None), {link, "is a link"});
}

TEST_F(StateFolder, FilesThatOthersCanReadAreRefusedByName) {
  ASSERT_TRUE(make_state_folder(path_, Passage::Others).ok());
  put("log", 0600);
  put("address", 0644);
  EXPECT_TRUE(check_state_files(path_, {"address"}).ok());
  for (const mode_t wide : {0604, 0640, 0660, 0602}) {
    const std::string file = put("orrery.db-wal", wide);
    expect_refused(check_state_files(path_, {"address"}), {file, "chmod 600"});
    expect_refused(make_private_file(file), {file, "chmod 600"});
    EXPECT_EQ(mode_of(file), wide);
  }
}

TEST_F(StateFolder, LinksAndPipesAreNoFiles) {
  ASSERT_TRUE(make_state_folder(path_, Passage::None).ok());
  const std::string file = path_ + "/orrery.db";
  fs::create_symlink("/etc/passwd", file);
  expect_refused(check_state_files(path_, {}), {file, "is a link"});
  expect_refused(make_private_file(file), {file, "is a link"});
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  expect_refused(check_state_files(path_, {}), {file, "is no file"});
  expect_refused(make_private_file(file), {file, "is no file"});
}

}  // namespace
}  // namespace orrery
