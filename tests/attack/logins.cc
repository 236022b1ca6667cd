#include "attack/logins.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <vector>

#include "system/live.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

bool run(std::vector<std::string> words) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDERR_FILENO);
    execvp(pointers.front(), pointers.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

void kill_processes_of(uid_t uid) {
  eventually([uid] {
    bool found = false;
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
      const std::string name = entry.path().filename().string();
      pid_t pid = 0;
      const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
      if (wrong != std::errc() || rest != name.data() + name.size()) continue;
      struct stat owner {};
      if (stat(entry.path().c_str(), &owner) != 0 || owner.st_uid != uid) continue;
      found = kill(pid, SIGKILL) == 0 || found;
    }
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    return !found;
  });
}

struct TheLogins : testing::Environment {
  void TearDown() override {
    shared = {};
    ann.reset();
    bob.reset();
  }
  std::unique_ptr<Login> ann;
  std::unique_ptr<Login> bob;
  Logins shared;
};
// The library deletes it, and calls TearDown after the last test.
TheLogins* const kLogins = [] {
  auto* const made = new TheLogins;
  testing::AddGlobalTestEnvironment(made);
  return made;
}();

}  // namespace

Login::Login(const std::string& stem) : name_("orr-" + stem + "-" + std::to_string(getpid())) {
  std::string pattern = (fs::temp_directory_path() / ("home-" + stem + "-XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) return;
  home_ = pattern;
  // Another useradd may hold the lock of the files.
  const bool made = eventually(
      [this] {
        return run({"useradd", "--no-create-home", "--user-group", "--home-dir", home_, "--shell",
                    "/bin/sh", name_});
      },
      std::chrono::seconds(10));
  const passwd* const entry = made ? getpwnam(name_.c_str()) : nullptr;
  if (entry == nullptr || chown(home_.c_str(), entry->pw_uid, entry->pw_gid) != 0 ||
      chmod(home_.c_str(), 0711) != 0) {
    return;
  }
  uid_ = entry->pw_uid;
}

Login::~Login() {
  if (uid_ != 0) kill_processes_of(uid_);
  if (getpwnam(name_.c_str()) != nullptr) {
    eventually([this] { return run({"userdel", "--force", name_}); }, std::chrono::seconds(10));
  }
  std::error_code ignored;
  if (!home_.empty()) fs::remove_all(home_, ignored);
}

const Logins& logins() {
  Logins& shared = kLogins->shared;
  if (shared.ann != nullptr || !shared.why.empty()) return shared;
  if (geteuid() != 0) {
    shared.why = "only root can make logins";
    return shared;
  }
  kLogins->ann = std::make_unique<Login>("ann");
  kLogins->bob = std::make_unique<Login>("bob");
  if (!kLogins->ann->ok() || !kLogins->bob->ok()) {
    shared.why = "this machine makes no logins: is there useradd?";
    return shared;
  }
  shared.ann = kLogins->ann.get();
  shared.bob = kLogins->bob.get();
  return shared;
}

}  // namespace orrery
