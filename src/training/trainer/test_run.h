#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "training/trainer/checkpoint/checkpoint.h"

namespace orrery {

// One run of this program as `orrery-train`, with the learner without torch.
struct TestRun {
  int exit_code = -1;
  std::string output{};  // what it printed
  std::string errors{};
};
TestRun train(const std::vector<std::string>& arguments, const std::string& folder);

// `run` on the line of fake_learner.h with batches of 64, and the summary it prints.
struct Outcome {
  TestRun run{};
  nlohmann::json summary{};
};
Outcome run_in(const std::string& folder, const std::vector<std::string>& more);

// False after a minute and a half in which it did not hold.
bool wait_until(const std::function<bool()>& holds);

Checkpoint last_checkpoint(const std::string& folder);

// A folder of its own for a test, empty at first and gone with the object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string run() const { return path_ + "/run"; }

 private:
  std::string path_;
};

}  // namespace orrery
