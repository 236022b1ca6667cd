#include "live/agent/log_keeper.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/agent/log_follow.h"
#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

constexpr std::int64_t kMost = 64 << 10;

std::int64_t on_disk(const std::string& path) {
  struct stat state {};
  EXPECT_EQ(::stat(path.c_str(), &state), 0);
  return state.st_blocks * 512;
}

void append(const Fd& file, const std::string& text) {
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), std::ssize(text));
}

class LogKeeper : public testing::Test {
 protected:
  TestFolder folder_;
  const std::string path_ = folder_ / "1.0.log";
  const Fd log_{::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640)};
};

TEST_F(LogKeeper, ALongLogKeepsItsEndAndTheJobGoesOnWriting) {
  append(log_, std::string(kMost / 2, 'a'));
  EXPECT_FALSE(shorten_log(path_, kMost).value()) << "it is short";
  append(log_, std::string(4 * kMost, 'b'));
  ASSERT_TRUE(shorten_log(path_, kMost).value());
  EXPECT_LE(on_disk(path_), kMost + 8192);
  append(log_, "the end\n");
  LogFollower tail(path_, -8);
  EXPECT_EQ(tail.read().value().bytes, "the end\n");
  EXPECT_FALSE(shorten_log(path_, kMost).value()) << "once is enough";
}

TEST_F(LogKeeper, AReaderPassesOverWhatWasFreed) {
  append(log_, std::string(3 * kMost, 'a'));
  LogFollower reader(path_, 0);
  EXPECT_EQ(reader.read(10).value().bytes, "aaaaaaaaaa");
  append(log_, std::string(kMost, 'b'));
  ASSERT_TRUE(shorten_log(path_, kMost).value());
  const auto piece = reader.read(4 * kMost).value();
  EXPECT_EQ(piece.bytes.find('\0'), std::string::npos);
  EXPECT_EQ(piece.offset, 3 * kMost);
  EXPECT_EQ(piece.bytes, std::string(kMost, 'b'));
}

TEST_F(LogKeeper, AfterALinkOrADeviceNothingIsCut) {
  ASSERT_EQ(::symlink(path_.c_str(), (folder_ / "link.log").c_str()), 0);
  append(log_, std::string(4 * kMost, 'a'));
  EXPECT_FALSE(shorten_log(folder_ / "link.log", kMost).value());
  EXPECT_FALSE(shorten_log("/dev/null", kMost).value());
  EXPECT_FALSE(shorten_log(folder_ / "missing.log", kMost).value());
  EXPECT_FALSE(shorten_log(path_, 0).value()) << "no limit";
}

TEST_F(LogKeeper, OldLogsGoButThoseThatAreUsedAndOtherFiles) {
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(48);
  for (const char* name : {"2.0.log", "3.0.log", "notes.txt"}) {
    folder_.write(name, "text");
    std::filesystem::last_write_time(folder_ / name, old);
  }
  const auto is_used = [](const std::string& name) { return name == "3.0.log"; };
  EXPECT_EQ(remove_old_logs(folder_.path(), Duration::zero(), is_used), 0) << "kept for ever";
  EXPECT_EQ(remove_old_logs(folder_.path(), std::chrono::hours(24), is_used), 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "2.0.log"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "3.0.log"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(path_)) << "it is new";
}

}  // namespace
}  // namespace orrery
