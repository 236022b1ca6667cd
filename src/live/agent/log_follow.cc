#include "live/agent/log_follow.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace orrery {

LogFollower::LogFollower(std::string path, std::int64_t offset, std::optional<uid_t> owner)
    : path_(std::move(path)), offset_(offset), owner_(owner) {}

// Looked at before it is opened for reading, because to open a device may already do something.
Status LogFollower::open() {
  const Fd found(::open(path_.c_str(), O_PATH | O_CLOEXEC));
  if (!found.ok() && errno == ENOENT) return {};
  struct stat state {};
  if (!found.ok() || ::fstat(found.get(), &state) != 0) return system_error(path_, errno);
  TRY(check(state));
  const std::string opened = "/proc/self/fd/" + std::to_string(found.get());
  file_ = Fd(::open(opened.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file_.ok() ? Status() : Status(system_error(path_, errno));
}

Status LogFollower::check(const struct stat& state) const {
  if (owner_ && state.st_uid != *owner_) {
    return Error{Code::FailedPrecondition, path_ + ": does not belong to the job's user"};
  }
  return S_ISREG(state.st_mode) ? Status() : Status(invalid(path_ + ": is no ordinary file"));
}

// What the agent has freed to keep the log short reads as zeros.
void LogFollower::pass_hole(const struct stat& state) {
  constexpr std::int64_t kDiskBlock = 512;  // the unit of st_blocks
  if (state.st_blocks * kDiskBlock >= state.st_size || offset_ >= state.st_size) return;
  const off_t data = ::lseek(file_.get(), offset_, SEEK_DATA);
  if (data >= 0) offset_ = data;
}

bool LogFollower::replaced() const {
  struct stat open_one {};
  struct stat named {};
  if (::fstat(file_.get(), &open_one) != 0 || ::stat(path_.c_str(), &named) != 0) return false;
  return open_one.st_ino != named.st_ino || open_one.st_dev != named.st_dev;
}

Result<LogFollower::Piece> LogFollower::read(std::size_t most) {
  // Twice at most: the file at hand, and the one that took its place.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!file_.ok()) TRY(open());
    if (!file_.ok()) return Piece{};
    struct stat state {};
    if (::fstat(file_.get(), &state) != 0) return system_error(path_, errno);
    TRY(check(state));
    if (offset_ < 0) offset_ = std::max<std::int64_t>(0, state.st_size + offset_);
    if (state.st_size < offset_) {
      offset_ = 0;
      restarted_ = true;
    }
    pass_hole(state);
    Piece piece{.bytes = std::string(most, '\0'), .offset = offset_};
    ssize_t got = 0;
    do {
      got = ::pread(file_.get(), piece.bytes.data(), most, offset_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return system_error(path_, errno);
    piece.bytes.resize(static_cast<std::size_t>(got));
    offset_ += got;
    if (got > 0 || !replaced()) {
      if (got > 0) piece.restarted = std::exchange(restarted_, false);
      return piece;
    }
    file_.close();
    offset_ = 0;
    restarted_ = true;
  }
  return Piece{};
}

Status LogFollower::wait(int other, Duration most) {
  if (!changes_.ok()) {
    changes_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!changes_.ok()) return system_error("inotify", errno);
    // The folder reports when the file is made, removed and written to.
    const std::string folder = path_.substr(0, std::max<std::size_t>(1, path_.rfind('/')));
    if (::inotify_add_watch(changes_.get(), folder.c_str(),
                            IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM) < 0) {
      const int number = errno;
      changes_.close();
      return system_error(folder, number);
    }
    // What came before the watch was set is not reported: look again.
    return {};
  }
  pollfd waited[] = {{.fd = changes_.get(), .events = POLLIN, .revents = 0},
                     {.fd = other, .events = POLLIN, .revents = 0}};
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(most).count();
  const auto limit = std::min<std::int64_t>(millis, std::numeric_limits<int>::max());
  if (::poll(waited, 2, static_cast<int>(limit)) < 0 && errno != EINTR) {
    return system_error(path_, errno);
  }
  char notices[4096];
  while (::read(changes_.get(), notices, sizeof notices) > 0) {
  }
  return {};
}

}  // namespace orrery
