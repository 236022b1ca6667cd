#include "live/agent/log_follow.h"

#include <fcntl.h>
#include <unistd.h>

#include "live/agent/test_jobs.h"

namespace orrery {
namespace {

constexpr Duration kLong = std::chrono::hours(1);

void append(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

LogFollower::Piece next(LogFollower& follower, std::size_t most = 1024) {
  auto piece = follower.read(most);
  EXPECT_TRUE(piece.ok()) << (piece.ok() ? "" : piece.error().message);
  return std::move(piece).value();
}

TEST(LogFollower, ReadsFromAnOffsetInPiecesOfTheSizeAskedFor) {
  const TestFolder folder;
  append(folder / "log", "0123456789");
  LogFollower follower(folder / "log", 3);
  EXPECT_EQ(next(follower, 4).bytes, "3456");
  const auto last = next(follower, 4);
  EXPECT_EQ(last.bytes, "789");
  EXPECT_EQ(last.offset, 7);
  EXPECT_EQ(next(follower).bytes, "");
  append(folder / "log", "ab");
  EXPECT_EQ(next(follower).bytes, "ab");
}

TEST(LogFollower, ANegativeOffsetCountsFromTheEnd) {
  const TestFolder folder;
  append(folder / "log", "0123456789");
  LogFollower follower(folder / "log", -3);
  const auto last = next(follower);
  EXPECT_EQ(last.bytes, "789");
  EXPECT_EQ(last.offset, 7);
  append(folder / "log", "ab");
  EXPECT_EQ(next(follower).bytes, "ab");
  LogFollower whole(folder / "log", -1000);
  EXPECT_EQ(next(whole).offset, 0);
}

TEST(LogFollower, AFileMayComeLater) {
  const TestFolder folder;
  LogFollower follower(folder / "log", 0);
  EXPECT_EQ(next(follower).bytes, "");
  ASSERT_TRUE(follower.wait(-1, kLong).ok());
  EXPECT_EQ(next(follower).bytes, "");
  append(folder / "log", "there");
  ASSERT_TRUE(follower.wait(-1, kLong).ok());
  EXPECT_EQ(next(follower).bytes, "there");
}

TEST(LogFollower, AFileThatWasCutIsReadFromItsStart) {
  const TestFolder folder;
  append(folder / "log", "long ago");
  LogFollower follower(folder / "log", 0);
  EXPECT_EQ(next(follower).bytes, "long ago");
  ASSERT_EQ(::truncate((folder / "log").c_str(), 0), 0);
  append(folder / "log", "new");
  const auto piece = next(follower);
  EXPECT_EQ(piece.bytes, "new");
  EXPECT_TRUE(piece.restarted);
  EXPECT_FALSE(next(follower).restarted);
}

TEST(LogFollower, AFileThatWasMovedAwayIsReadToItsEndFirst) {
  const TestFolder folder;
  append(folder / "log", "one ");
  LogFollower follower(folder / "log", 0);
  EXPECT_EQ(next(follower).bytes, "one ");
  append(folder / "log", "two");
  std::filesystem::rename(folder / "log", folder / "log.1");
  append(folder / "log", "three");
  EXPECT_EQ(next(follower).bytes, "two");
  const auto piece = next(follower);
  EXPECT_EQ(piece.bytes, "three");
  EXPECT_EQ(piece.offset, 0);
  EXPECT_TRUE(piece.restarted);
}

TEST(LogFollower, WhatIsNoFileIsRefused) {
  const TestFolder folder;
  LogFollower follower(folder.path(), 0);
  EXPECT_FALSE(follower.read().ok());
}

TEST(LogFollower, FollowsAJobToItsEndAndMissesNothing) {
  const TestFolder folder;
  const LocalJobs jobs = open_jobs(folder / "state");
  const JobProcess job = start(
      jobs, {.job = JobId{0}, .argv = act({"arguments", "x", "y"}), .output = folder / "log"});
  LogFollower follower(folder / "log", 0);
  std::string text;
  for (bool ended = false;;) {
    const auto piece = next(follower, 3);
    EXPECT_LE(piece.bytes.size(), 3u);
    text += piece.bytes;
    if (!piece.bytes.empty()) continue;
    if (ended) break;
    ended = job.end().value().has_value();
    if (!ended) {
      ASSERT_TRUE(follower.wait(job.fd(), kLong).ok());
    }
  }
  EXPECT_EQ(text, "[x]\n[y]\n");
}

TEST(LogFollow, AFileOfAnotherUserIsRefused) {
  const TestFolder folder;
  folder.write("log", "secret");
  LogFollower mine(folder / "log", 0, ::geteuid());
  EXPECT_EQ(mine.read().value().bytes, "secret");
  LogFollower theirs(folder / "log", 0, ::geteuid() + 1);
  EXPECT_FALSE(theirs.read().ok());
}

}  // namespace
}  // namespace orrery
