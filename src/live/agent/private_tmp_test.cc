#include "live/job_runner/private_tmp.h"

#include <unistd.h>

#include "live/agent/local_processes.h"
#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

class PrivateTmp : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make mount namespaces";
  }
};

// The state directory is in /tmp as well: what the job needs of it is still there.
TEST_F(PrivateTmp, AJobSeesATmpOfItsOwnAndWhatItNeeds) {
  const TestFolder folder;
  auto processes =
      LocalProcesses::open(folder / "state", folder / "data", "/proc/self/exe").value();
  ASSERT_TRUE(processes->write_lease({.until = Duration::max(), .term = 1}).ok());
  const std::string marker = "/tmp/orrery-marker-" + std::to_string(::getpid());
  const Launch launch{.job = JobId{1},
                      .argv = act({"tmp", marker}),
                      .directory = folder.path(),
                      .output = folder / "out",
                      .errors = folder / "out",
                      .wants_private_tmp = true};
  ASSERT_TRUE(processes->start(launch).ok());
  std::vector<LocalProcesses::Ended> ended;
  while (ended.empty()) ended = processes->ended();
  EXPECT_EQ(ended[0].end.exit_code, 0) << ended[0].end.message;
  EXPECT_EQ(read_word(folder / "out"), "made\n" + folder.path() + "\nsocket\ncheckpoints")
      << "and the output went to where it was asked for";
  EXPECT_FALSE(std::filesystem::exists(marker)) << "it was made in the job's own /tmp";
  EXPECT_FALSE(std::filesystem::exists(folder / "data/tmp/1.0.0")) << "which goes with it";
}

TEST_F(PrivateTmp, LinksInItAreRemovedAndNotFollowed) {
  const TestFolder folder;
  folder.write("kept/file", "text");
  ASSERT_TRUE(make_private_tmp(folder / "1.0.0", ::geteuid(), ::getegid()).ok());
  std::filesystem::create_directory_symlink(folder / "kept", folder / "1.0.0/tmp/link");
  remove_private_tmp(folder / "1.0.0");
  EXPECT_FALSE(std::filesystem::exists(folder / "1.0.0"));
  remove_private_tmp(folder / "kept");
  EXPECT_TRUE(std::filesystem::exists(folder / "kept/file"));
}

}  // namespace
}  // namespace orrery
