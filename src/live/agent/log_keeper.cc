#include "live/agent/log_keeper.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files.h"

namespace orrery {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr std::int64_t kDiskBlock = 512;  // the unit of st_blocks

}  // namespace

Result<bool> shorten_log(const std::string& path, std::int64_t most) {
  const Fd log(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!log.ok()) {
    if (errno == ENOENT || errno == ELOOP) return false;
    return system_error(path, errno);
  }
  struct stat state {};
  if (::fstat(log.get(), &state) != 0) return system_error(path, errno);
  const std::int64_t on_disk = state.st_blocks * kDiskBlock;
  if (!S_ISREG(state.st_mode) || most <= 0 || on_disk <= most + most / 8) return false;
  const std::int64_t freed = (state.st_size - most) / kBlock * kBlock;
  if (freed <= 0) return false;
  if (::fallocate(log.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, freed) == 0) {
    return true;
  }
  if (errno != EOPNOTSUPP) return system_error(path, errno);
  if (::ftruncate(log.get(), 0) != 0) return system_error(path, errno);
  return true;
}

int remove_old_logs(const std::string& folder, Duration age,
                    const std::function<bool(const std::string&)>& is_used) {
  if (age <= Duration::zero()) return 0;
  const auto now = std::filesystem::file_time_type::clock::now();
  int removed = 0;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".log" || is_used(name)) continue;
    std::error_code unknown;
    const auto written = entry.last_write_time(unknown);
    if (unknown || now - written <= age) continue;
    if (::unlink(entry.path().c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace orrery
