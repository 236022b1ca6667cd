#include "training/emulation/server_cgroup.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "training/emulation/owner.h"
#include "training/emulation/process_clock.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

// Ten times what others have, so that a quota is what a server gets and not only what it may have.
constexpr std::string_view kShares = "10240", kWeight = "1000";

bool exists(const std::string& path) {
  std::error_code none;
  return fs::exists(path, none);
}

std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> found;
  std::istringstream lines(read_word(path));
  for (pid_t pid = 0; lines >> pid;) found.push_back(pid);
  return found;
}

// Where this process stands: the controllers of each tree, and the path within it.
std::map<std::string, std::string> own_paths(const std::string& proc) {
  std::map<std::string, std::string> paths;
  std::istringstream lines(read_word(proc + "/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::istringstream controllers(line.substr(first + 1, second - first - 1));
    const std::string path = line.substr(second + 1);
    if (first + 1 == second) paths["2"] = path;
    for (std::string name; std::getline(controllers, name, ',');) paths[name] = path;
  }
  return paths;
}

struct Mount {
  std::string root{}, folder{}, type{}, options{};
};

std::vector<Mount> cgroup_mounts(const std::string& proc) {
  std::vector<Mount> mounts;
  std::istringstream lines(read_word(proc + "/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    Mount mount;
    std::string word, source;
    fields >> word >> word >> word >> mount.root >> mount.folder;
    while (fields >> word && word != "-") {
    }
    if (fields >> mount.type >> source >> mount.options && mount.type.starts_with("cgroup")) {
      mounts.push_back(mount);
    }
  }
  return mounts;
}

// The folder of a path within a mount that may show only a part of its tree.
std::string folder_in(const Mount& mount, std::string path) {
  if (mount.root != "/" && path.starts_with(mount.root)) path.erase(0, mount.root.size());
  const std::string folder = path == "/" ? mount.folder : mount.folder + path;
  return exists(folder) ? folder : mount.folder;
}

bool has_option(const std::string& options, const std::string& option) {
  return ("," + options + ",").find("," + option + ",") != std::string::npos;
}

bool has_cpu_controller(const std::string& file) {
  std::istringstream names(read_word(file));
  for (std::string name; names >> name;) {
    if (name == "cpu") return true;
  }
  return false;
}

void make_folder_go(const std::string& path) {
  // Processes that were in it a moment ago may still be on their way out.
  for (int i = 0; i < 100 && ::rmdir(path.c_str()) != 0 && errno == EBUSY; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

Error unusable(const std::string& what) {
  return {Code::FailedPrecondition,
          what +
              "; name a cgroup folder that this user may write to, with the cpu controller "
              "handed down to it and no process in it, or take --limit-cpu duty-cycle"};
}

}  // namespace

Result<CgroupTree> find_cgroups(const std::string& proc) {
  const auto paths = own_paths(proc);
  CgroupTree tree{.version = 1};
  for (const Mount& mount : cgroup_mounts(proc)) {
    const bool one = mount.type == "cgroup";
    const auto place = [&](const std::string& controller, std::string& into) {
      const auto path = paths.find(controller);
      if (path != paths.end() && into.empty()) into = folder_in(mount, path->second);
    };
    if (one && has_option(mount.options, "cpu")) place("cpu", tree.cpu);
    if (one && has_option(mount.options, "cpuacct")) place("cpuacct", tree.account);
  }
  if (!tree.cpu.empty() && !tree.account.empty()) return tree;
  for (const Mount& mount : cgroup_mounts(proc)) {
    const auto path = paths.find("2");
    if (mount.type != "cgroup2" || path == paths.end()) continue;
    const std::string folder = folder_in(mount, path->second);
    if (has_cpu_controller(folder + "/cgroup.controllers"))
      return CgroupTree{.version = 2, .cpu = folder};
  }
  return unusable("no cgroup with a cpu controller is mounted here");
}

Result<CgroupTree> open_cgroups(const std::string& folder) {
  if (exists(folder + "/cpu.cfs_quota_us") || exists(folder + "/cpu.shares")) {
    if (exists(folder + "/cpuacct.usage")) {
      return CgroupTree{.version = 1, .cpu = folder, .account = folder};
    }
    TRY_ASSIGN(CgroupTree tree, find_cgroups());
    if (tree.version != 1) return unusable(folder + ": where its CPU time is counted is unknown");
    tree.cpu = folder;
    return tree;
  }
  if (has_cpu_controller(folder + "/cgroup.controllers"))
    return CgroupTree{.version = 2, .cpu = folder};
  return unusable(folder + ": is no cgroup with a cpu controller");
}

CpuQuota cpu_quota(double cores) {
  constexpr double kPeriodUs = 10'000, kLeastQuotaUs = 1'000, kLongestPeriodUs = 1'000'000;
  const double period = std::clamp(kLeastQuotaUs / cores, kPeriodUs, kLongestPeriodUs);
  return {.quota_us = std::max(std::llround(cores * period), std::llround(kLeastQuotaUs)),
          .period_us = std::llround(period)};
}

ServerCgroup::ServerCgroup(CgroupTree tree, const std::string& name)
    : tree_(std::move(tree)),
      cpu_(tree_.cpu + "/" + name),
      account_(tree_.version == 1 ? tree_.account + "/" + name : std::string()),
      stat_(cpu_ + "/cpu.stat"),
      usage_(account_ + "/cpuacct.usage") {}

Status ServerCgroup::make() const {
  const std::string handed_down = tree_.cpu + "/cgroup.subtree_control";
  if (tree_.version == 2 && !has_cpu_controller(handed_down)) {
    if (!write_control(handed_down, "+cpu").ok()) {
      return unusable(tree_.cpu + ": does not hand its cpu controller down");
    }
  }
  if (::mkdir(cpu_.c_str(), 0755) != 0) return system_error(cpu_, errno);
  if (!account_.empty() && account_ != cpu_ && ::mkdir(account_.c_str(), 0755) != 0) {
    const Error error = system_error(account_, errno);
    ::rmdir(cpu_.c_str());
    return error;
  }
  return {};
}

Status ServerCgroup::add(pid_t pid) const {
  TRY(write_control(cpu_ + "/cgroup.procs", std::to_string(pid)));
  if (account_.empty() || account_ == cpu_) return {};
  return write_control(account_ + "/cgroup.procs", std::to_string(pid));
}

Status ServerCgroup::set(double cores) const {
  const auto [quota, period] = cpu_quota(cores);
  if (tree_.version == 2) {
    static_cast<void>(write_control(cpu_ + "/cpu.weight", kWeight).ok());
    return write_control(cpu_ + "/cpu.max", fmt::format("{} {}", quota, period));
  }
  static_cast<void>(write_control(cpu_ + "/cpu.shares", kShares).ok());
  const std::string period_file = cpu_ + "/cpu.cfs_period_us";
  if (read_word(period_file) != std::to_string(period)) {
    // The old quota in the new period may be more than a parent has.
    TRY(write_control(cpu_ + "/cpu.cfs_quota_us", "-1"));
    TRY(write_control(period_file, std::to_string(period)));
  }
  return write_control(cpu_ + "/cpu.cfs_quota_us", std::to_string(quota));
}

Result<CpuUse> ServerCgroup::use() {
  const bool two = tree_.version == 2;
  TRY_ASSIGN(const double used, two ? stat_.entry("usage_usec") : usage_.number());
  TRY_ASSIGN(const double held, stat_.entry(two ? "throttled_usec" : "throttled_time"));
  const double unit_s = two ? 1e-6 : 1e-9;
  return CpuUse{.cpu_s = used * unit_s, .throttled_s = held * unit_s};
}

Result<double> ServerCgroup::starved_s() {
  TRY_ASSIGN(const CpuUse used, use());
  // The kernel counts a throttled thread as waiting. The thread that waited longest stands for the
  // server: to add them up would count the same moment several times.
  double waited_s = 0;
  const std::string threads = cpu_ + (tree_.version == 2 ? "/cgroup.threads" : "/tasks");
  for (const pid_t thread : numbers_in(threads)) waited_s = std::max(waited_s, wait_of_s(thread));
  return std::max(0.0, waited_s - used.throttled_s);
}

std::vector<pid_t> ServerCgroup::members() const {
  std::vector<pid_t> found = numbers_in(cpu_ + "/cgroup.procs");
  if (account_.empty() || account_ == cpu_) return found;
  const std::vector<pid_t> counted = numbers_in(account_ + "/cgroup.procs");
  found.insert(found.end(), counted.begin(), counted.end());
  return found;
}

void ServerCgroup::remove() const {
  make_folder_go(cpu_);
  if (!account_.empty() && account_ != cpu_) make_folder_go(account_);
}

void ServerCgroup::release() const {
  for (const pid_t pid : members()) {
    if (pid <= 0) continue;
    const std::string text = std::to_string(pid);
    // Version 2 takes no process into a cgroup that has handed its controllers down; then it stays
    // without a limit until it ends, and the next run removes the rest.
    const bool out = write_control(tree_.cpu + "/cgroup.procs", text).ok();
    if (!out) static_cast<void>(write_control(cpu_ + "/cpu.max", "max").ok());
    if (!account_.empty()) {
      static_cast<void>(write_control(tree_.account + "/cgroup.procs", text).ok());
    }
  }
  if (tree_.version == 2 && !members().empty()) return;
  remove();
}

void ServerCgroup::end() const {
  const std::vector<pid_t> pids = members();
  // A process of another process namespace reads as 0: then its owner may be there, too, unseen.
  if (std::count(pids.begin(), pids.end(), 0) > 0) return;
  for (const pid_t pid : pids) ::kill(pid, SIGKILL);
  remove();
}

void remove_left_cgroups(const CgroupTree& tree) {
  for (const std::string& folder : {tree.cpu, tree.account}) {
    std::error_code failed;
    for (const auto& found : fs::directory_iterator(folder, failed)) {
      const std::string name = found.path().filename();
      const auto tag = tag_of_server_name(name);
      if (tag && !owner_runs(*tag)) ServerCgroup(tree, name).end();
    }
  }
}

}  // namespace orrery
