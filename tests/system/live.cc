#include "system/live.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "live/auth/credentials.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Processes that were started with the name of the folder in their words or their environment.
std::vector<pid_t> processes_of(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (wrong != std::errc() || rest != name.data() + name.size() || pid == getpid()) continue;
    const std::string said = text_of(entry.path() / "cmdline") + text_of(entry.path() / "environ");
    if (said.find(folder) != std::string::npos) found.push_back(pid);
  }
  return found;
}

}  // namespace

bool eventually(const std::function<bool()>& holds, std::chrono::seconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

int repetitions(int usually, int nightly) {
  const char* const set = std::getenv("ORRERY_NIGHTLY");
  return set != nullptr && std::string_view(set) == "1" ? nightly : usually;
}

Background::Background(const Words& arguments, std::string errors, const std::string& login)
    : errors_(std::move(errors)) {
  Words words = orrery_words(arguments, login);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, (errors_ + ".output").c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, errors_.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (posix_spawnp(&pid_, pointers.front(), &streams, nullptr, pointers.data(), environ) != 0) {
    std::abort();
  }
  posix_spawn_file_actions_destroy(&streams);
}

Background::~Background() { kill(); }

int Background::wait() {
  if (!end_) {
    int status = 0;
    waitpid(pid_, &status, 0);
    end_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  return *end_;
}

void Background::kill() {
  if (!end_) ::kill(pid_, SIGKILL);
  wait();
}

int Background::stop() {
  if (!end_) ::kill(pid_, SIGTERM);
  eventually([this] { return end().has_value(); });
  kill();
  return *end_;
}

std::optional<int> Background::end() {
  int status = 0;
  if (!end_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    end_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  return end_;
}

std::string Background::output() const { return text_of(errors_ + ".output"); }
std::string Background::errors() const { return text_of(errors_); }

LiveTest::LiveTest() { setenv("ORRERY_TEST_FOLDER", folder_.path().c_str(), 1); }

LiveTest::~LiveTest() {
  eventually([this] {
    const std::vector<pid_t> left = processes_of(folder_.path());
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG) > 0) continue;
    return left.empty();
  });
  if (HasFailure()) {
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      if (entry.path().extension() != ".err") continue;
      const std::string text = text_of(entry.path());
      std::cerr << "---- " << entry.path().filename().string() << ", its end:\n"
                << text.substr(text.size() - std::min<std::size_t>(text.size(), 4000));
    }
  }
}

std::unique_ptr<Background> LiveTest::serve(const Words& more, const std::string& login) {
  Words words = {"serve", "--state", state(), "--rest", "127.0.0.1:0"};
  words.insert(words.end(), more.begin(), more.end());
  if (const std::string before = address(); !before.empty()) {
    words.insert(words.end(), {"--listen", before});
  }
  const std::string mark = state() + "/address";
  std::error_code none;
  if (fs::exists(mark, none)) fs::rename(mark, file("last_address"));
  auto process = std::make_unique<Background>(words, file("serve.err"), login);
  EXPECT_TRUE(eventually([&] { return fs::exists(mark, none) || process->end(); }));
  EXPECT_FALSE(process->end()) << process->errors();
  return process;
}

std::string LiveTest::address() const {
  std::string line;
  std::ifstream now(state() + "/address");
  if (std::getline(now, line)) return line;
  std::ifstream before(file("last_address"));
  return std::getline(before, line) ? line : "";
}

ClientOptions LiveTest::admin() const {
  const auto own = load_credentials(state() + "/trust", "admin");
  EXPECT_TRUE(own.ok());
  if (!own.ok()) return {};
  return {.address = address(),
          .tls = TlsMaterial{.certificate = own.value().certificate_pem,
                             .key = own.value().key_pem.reveal(),
                             .authority = own.value().ca_pem}};
}

StatusAnswer LiveTest::status() const {
  auto answer = RpcClient(admin()).status({.finished = true});
  EXPECT_TRUE(answer.ok()) << answer.error().message;
  return answer.ok() ? std::move(answer).value() : StatusAnswer{};
}

std::optional<JobStatus> LiveTest::job(JobNumber id) const {
  const auto answer = RpcClient(admin()).status({.ids = {id}});
  if (!answer.ok() || answer.value().jobs.size() != 1) return std::nullopt;
  return answer.value().jobs.front();
}

std::optional<NodeStatus> LiveTest::node(const std::string& name) const {
  const auto answer = RpcClient(admin()).nodes();
  if (!answer.ok()) return std::nullopt;
  const auto& nodes = answer.value().nodes;
  const auto found = std::ranges::find(nodes, name, &NodeStatus::name);
  if (found == nodes.end()) return std::nullopt;
  return *found;
}

Finished LiveTest::ask(const Words& words, const std::string& login) const {
  Words all = {words.front(), "--state", state()};
  all.insert(all.end(), words.begin() + 1, words.end());
  return run_orrery(all, {.login = login});
}

std::string LiveTest::join(const std::string& role, const std::string& name) {
  const Finished token = ask({"token", "--role", role, "--name", name});
  EXPECT_EQ(token.exit_code, 0) << token.err;
  const std::string folder = file("credentials-" + name);
  const Finished joined =
      run_orrery({"join", "--server", address(), "--credentials", folder, "--role", role, "--name",
                  name, "--token-file", folder_.write("token-" + name, token.out)});
  EXPECT_EQ(joined.exit_code, 0) << joined.err;
  return folder;
}

std::unique_ptr<Background> LiveTest::agent(const std::string& name, const Words& more,
                                            std::string server) {
  const std::string credentials = file("credentials-" + name);
  if (!fs::exists(credentials)) join("agent", name);
  if (server.empty()) server = address();
  Words words = {
      "agent",  "--state", file("agent-" + name), "--server", server, "--credentials", credentials,
      "--name", name,      "--address",           "127.0.0.1"};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Background>(words, file("agent-" + name + ".err"));
}

JobRequest LiveTest::careful_job(const std::string& name, const std::string& work) const {
  const std::string folder = folder_.path();
  const std::string script = "exec 9>>" + folder + "/lock.$ORRERY_JOB_ID\n" +
                             "flock -n 9 || { echo $ORRERY_JOB_ID >>" + folder +
                             "/clashes; exit 99; }\n" + "echo $ORRERY_JOB_ID $ORRERY_EPOCH >>" +
                             folder + "/ran\n" + work;
  return {.argv = {"sh", "-c", script}, .name = name, .grace = std::chrono::seconds(1)};
}

std::vector<std::string> LiveTest::ran() const { return lines_of(file("ran")); }
std::string LiveTest::clashes() const { return text_of(file("clashes")); }

void LiveTest::expect_idle() {
  EXPECT_TRUE(eventually(
      [this] {
        const auto answer = RpcClient(admin()).status({.finished = false, .limit = 1});
        return answer.ok() &&
               answer.value().pending + answer.value().running + answer.value().settling == 0;
      },
      std::chrono::seconds(300)));
}

void LiveTest::expect_all_done_once() {
  expect_idle();
  std::map<std::string, int> begun;
  std::map<JobNumber, int> times;
  for (const std::string& line : ran()) {
    EXPECT_EQ(++begun[line], 1) << "began twice: job and epoch " << line;
    ++times[std::stoll(line)];
  }
  EXPECT_EQ(clashes(), "");
  for (const JobStatus& job : status().jobs) {
    EXPECT_EQ(job.state, JobState::Done) << job.id << ": " << job.reason;
    EXPECT_GE(times[job.id], 1) << job.id << " is " << to_string(job.state) << " and never ran";
    EXPECT_LE(times[job.id], job.epoch) << job.id;
    EXPECT_EQ(job.failures, 0) << job.id;
  }
}

}  // namespace orrery
