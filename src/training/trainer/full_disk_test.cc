#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "training/trainer/started_run.h"

namespace orrery {
namespace {

using nlohmann::json;

// A small disk, gone with the object.
class SmallDisk {
 public:
  SmallDisk(std::string path, const char* size) : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, size) == 0;
  }
  ~SmallDisk() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  bool mounted() const { return mounted_; }

 private:
  std::string path_;
  bool mounted_ = false;
};

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(FullDisk, ARunFailsAndLeavesWholeLinesAndNoDrafts) {
  const TestFolder folder;
  const SmallDisk disk(folder.path() + "/disk", "size=96k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a file system needs root";
  const std::string run = folder.path() + "/disk/run";
  const TestRun ended = train({"run",     "--model",
                               "wide",    "--batch",
                               "64",      "--rate",
                               "0.01",    "--json",
                               "--quiet", "--data",
                               "line",    "--dir",
                               run,       "--workers",
                               "2",       "--mode",
                               "asgd",    "--time-limit",
                               "3s",      "--evaluate-every",
                               "64",      "--checkpoint-every",
                               "64"},
                              folder.path() + "/run");
  EXPECT_EQ(ended.exit_code, 1) << ended.errors;
  EXPECT_NE(ended.errors.find("No space left on device"), std::string::npos) << ended.errors;
  // Of checkpoints, best models and tables: each once, and again as the reason of the failure.
  EXPECT_LE(count(ended.errors, "No space left on device"), 6) << ended.errors;
  const json summary = json::parse(ended.output, nullptr, false);
  EXPECT_GT(summary["updates"], 0) << "it says how far it came";
  EXPECT_TRUE(summary["failure"].is_string());
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.ends_with(".part") || name.ends_with(".new")) << name;
    if (!name.ends_with(".csv") || entry.file_size() == 0) continue;
    std::ifstream file(entry.path());
    file.seekg(-1, std::ios::end);
    EXPECT_EQ(file.get(), '\n') << name << " ends within a line";
  }
}

TEST(FullDisk, ThatHasSpaceAgainIsReported) {
  const TestFolder folder;
  const std::string path = folder.path() + "/disk";
  const SmallDisk disk(path, "size=4m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a file system needs root";
  StartedRun run({"run", "--model", "wide", "--batch", "64", "--rate", "0.01", "--json", "--quiet",
                  "--data", "line", "--dir", path + "/run", "--workers", "2", "--time-limit",
                  "300s", "--checkpoint-every", "640"},
                 folder.path() + "/run");
  const auto errors = [&] {
    std::ostringstream text;
    text << std::ifstream(folder.path() + "/run.errors").rdbuf();
    return text.str();
  };
  ASSERT_TRUE(wait_until([&] { return newest_checkpoint(path + "/run").ok(); })) << errors();
  std::ofstream filler(path + "/filler");
  while (filler << std::string(4096, 'x') << std::flush) continue;
  filler.close();
  ASSERT_TRUE(wait_until([&] { return count(errors(), "/checkpoint-0") > 0; })) << errors();
  std::filesystem::remove(path + "/filler");
  EXPECT_TRUE(wait_until([&] { return count(errors(), "checkpoints are written again") == 1; }))
      << errors();
  kill(run.pid(), SIGTERM);
  run.wait();
  EXPECT_TRUE(newest_checkpoint(path + "/run").ok());
}

}  // namespace
}  // namespace orrery
