#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "training/trainer/head/children.h"
#include "training/trainer/test_run.h"

namespace orrery {

TestFolder::TestFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "orrery-test-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TestRun train(const std::vector<std::string>& arguments, const std::string& folder) {
  const std::string errors = folder + ".errors";
  std::string command = "ORRERY_TEST_FOLDER='" + folder + "' " + own_program();
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  command += " 2>'" + errors + "'";
  TestRun run;
  std::FILE* const pipe = popen(command.c_str(), "re");
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) run.output += buffer;
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::ostringstream text;
  text << std::ifstream(errors).rdbuf();
  run.errors = text.str();
  return run;
}

Outcome run_in(const std::string& folder, const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"run",    "--model",   "linear", "--batch", "64",
                                        "--rate", "0.05",      "--json", "--quiet", "--dir",
                                        folder,   "--workers", "4",      "--data",  "line"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Outcome outcome{.run = train(arguments, folder)};
  outcome.summary = nlohmann::json::parse(outcome.run.output, nullptr, false);
  return outcome;
}

bool wait_until(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

Checkpoint last_checkpoint(const std::string& folder) {
  auto found = newest_checkpoint(folder);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? found.value().checkpoint : Checkpoint{};
}

}  // namespace orrery
