#include "training/lease/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kLockLook = std::chrono::milliseconds(2);

std::optional<std::int64_t> epoch_of(const std::string& name) {
  std::int64_t epoch = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, epoch);
  if (read.ec != std::errc() || read.ptr != end || epoch < 1) return std::nullopt;
  return epoch;
}

std::string lease_text(const ChiefLease& lease) {
  return json{{"holder", lease.holder}, {"renewals", lease.renewals}}.dump() + "\n";
}

Result<ChiefLease> parse_lease(std::int64_t epoch, const std::string& text) {
  const json values = json::parse(text, nullptr, false);
  try {
    return ChiefLease{.epoch = epoch,
                      .holder = values.at("holder").get<std::string>(),
                      .renewals = values.at("renewals").get<std::int64_t>()};
  } catch (const json::exception&) {
    return invalid("no lease; it has holder and renewals");
  }
}

// Of two calls at once both find the folder there.
Status make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? Status(system_error(path, error.value())) : Status();
}

Error another_leads(const ChiefLease& now, std::int64_t epoch) {
  return {
      Code::FailedPrecondition,
      fmt::format("{} leads the run in epoch {}; epoch {} is over", now.holder, now.epoch, epoch)};
}

}  // namespace

std::string LeaseFile::path_of(std::int64_t epoch) const {
  return fmt::format("{}/{}", folder_, epoch);
}

std::string LeaseFile::release_path_of(std::int64_t epoch) const {
  return path_of(epoch) + ".released";
}

Result<std::int64_t> LeaseFile::newest() const {
  std::int64_t found = 0;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    found = std::max(found, epoch_of(at->path().filename().string()).value_or(0));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return system_error(folder_, error.value());
  }
  return found;
}

Result<ChiefLease> LeaseFile::read() const {
  TRY_ASSIGN(const std::int64_t epoch, newest());
  if (epoch == 0) return ChiefLease{};
  TRY_ASSIGN(const std::string text, read_file(path_of(epoch)));
  auto parsed = parse_lease(epoch, text);
  if (!parsed.ok()) return std::move(parsed).error().at(path_of(epoch));
  ChiefLease lease = std::move(parsed).value();
  auto next = read_file(release_path_of(epoch));
  if (!next.ok() && next.error().code != Code::NotFound) return std::move(next).error();
  if (next.ok()) {
    lease.released = true;
    lease.next = std::move(next).value();
  }
  return lease;
}

// The lock's file is replaced when its holder hangs, so a lock counts only while it is that of the
// path.
Status LeaseFile::locked(const std::function<Status()>& change) const {
  TRY(make_folder(folder_));
  const std::string path = folder_ + "/lock";
  auto until = std::chrono::steady_clock::now() + lock_patience_;
  for (;;) {
    const Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock.ok()) return system_error(path, errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) {
      struct stat mine {
      }, there{};
      const bool same = ::fstat(lock.get(), &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
                        mine.st_ino == there.st_ino;
      if (same) return change();
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) return system_error(path, errno);
    if (std::chrono::steady_clock::now() > until) {
      TRY(write_file_atomically(path, ""));
      until = std::chrono::steady_clock::now() + lock_patience_;
    }
    std::this_thread::sleep_for(kLockLook);
  }
}

Result<std::optional<ChiefLease>> LeaseFile::take(const ChiefLease& seen,
                                                  const std::string& holder) const {
  std::optional<ChiefLease> mine;
  const Status done = locked([&]() -> Status {
    TRY_ASSIGN(const ChiefLease now, read());
    if (!(now == seen)) return {};
    const ChiefLease next{.epoch = now.epoch + 1, .holder = holder};
    const Status made =
        write_file_atomically(path_of(next.epoch), lease_text(next), {.exclusive = true});
    if (made.ok()) mine = next;
    return made.ok() || made.error().code == Code::AlreadyExists ? Status() : made;
  });
  if (!done.ok()) return done.error();
  return mine;
}

Status LeaseFile::renew(ChiefLease& mine) const {
  return locked([&]() -> Status {
    TRY_ASSIGN(const ChiefLease now, read());
    if (now.epoch != mine.epoch) return another_leads(now, mine.epoch);
    if (now.released) return Error{Code::FailedPrecondition, "the lease has been given up"};
    ++mine.renewals;
    return write_file_atomically(path_of(mine.epoch), lease_text(mine));
  });
}

Status LeaseFile::release(std::int64_t epoch, const std::string& next) const {
  return locked([&]() -> Status {
    TRY_ASSIGN(const std::int64_t now, newest());
    if (now != epoch) return {};
    return write_file_atomically(release_path_of(epoch), next);
  });
}

Status LeaseFile::while_held(std::int64_t epoch, const std::function<Status()>& write) const {
  return locked([&]() -> Status {
    TRY_ASSIGN(const ChiefLease now, read());
    if (now.epoch != epoch) return another_leads(now, epoch);
    return write();
  });
}

bool LeaseWatch::may_take(const ChiefLease& lease, Clock::time_point now) {
  if (lease.released && (lease.next.empty() || lease.next == member_)) return true;
  if (!seen_ || !(*seen_ == lease)) {
    seen_ = lease;
    since_ = now;
  }
  const bool starts = lease.renewals == 0 && !lease.released;
  return now - since_ >= (starts ? patience_ * kStartFactor : patience_);
}

}  // namespace orrery
