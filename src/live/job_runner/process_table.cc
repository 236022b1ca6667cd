#include "live/job_runner/process_table.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

namespace orrery {
namespace {

struct Entry {
  pid_t parent = 0;
  std::int64_t start = 0;
};

std::optional<Entry> entry(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return std::nullopt;
  // The name, in brackets, may hold brackets and spaces itself; the rest are single words.
  const std::size_t name_end = stat.value().rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(stat.value().substr(name_end + 1));
  Entry found;
  std::string word;
  words >> word >> found.parent;
  constexpr int kWordsBetween = 17;  // fields 5 to 21
  for (int i = 0; i < kWordsBetween; ++i) words >> word;
  words >> found.start;
  if (!words) return std::nullopt;
  return found;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};

template <class Each>
void for_each_process(Each each) {
  const std::unique_ptr<DIR, CloseDirectory> proc(opendir("/proc"));
  if (!proc) return;
  while (const dirent* const item = readdir(proc.get())) {
    pid_t pid = 0;
    const char* const end = item->d_name + std::strlen(item->d_name);
    const auto [last, error] = std::from_chars(item->d_name, end, pid);
    if (error != std::errc() || last != end) continue;
    if (const auto found = entry(pid)) each(pid, *found);
  }
}

}  // namespace

std::int64_t process_start(pid_t pid) {
  const auto found = entry(pid);
  return found ? found->start : 0;
}

std::string boot_id() { return read_word("/proc/sys/kernel/random/boot_id"); }

std::vector<pid_t> descendants(pid_t ancestor) {
  std::multimap<pid_t, pid_t> children;
  for_each_process([&](pid_t pid, const Entry& found) { children.emplace(found.parent, pid); });
  std::vector<pid_t> below{ancestor};
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto [first, last] = children.equal_range(below[i]);
    for (auto child = first; child != last; ++child) below.push_back(child->second);
  }
  below.erase(below.begin());
  return below;
}

std::vector<pid_t> processes_with(const std::string& variable) {
  const std::string wanted = '\0' + variable + '\0';
  std::vector<pid_t> found;
  for_each_process([&](pid_t pid, const Entry&) {
    const auto environment = read_file("/proc/" + std::to_string(pid) + "/environ");
    if (!environment.ok()) return;
    if (('\0' + environment.value()).find(wanted) != std::string::npos) found.push_back(pid);
  });
  return found;
}

Fd open_process(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

bool send_signal(const Fd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

}  // namespace orrery
