#pragma once

#include <functional>
#include <string>

#include "training/trainer/run_options.h"
#include "training/trainer/transport/part.h"

namespace CLI {
class App;
}

namespace orrery {

// What a call of `orrery-train` comes to.
struct TrainCall {
  RunOptions options{};           // of `run`; with --resume those of the run when it began
  std::function<Status()> run{};  // what was chosen
  bool says_errors = true;        // a part sends them to the head, which prints them
  std::string version{};          // what --version prints
};

// Adds every command of `orrery-train` to the application, with its options and what they say of
// themselves. `call` and `ports` must outlive what is chosen.
void add_train_commands(CLI::App& app, TrainCall& call, const TrainPorts& ports);

// The whole of `orrery-train`, with whatever learns given from outside; `version` is what --version
// prints. The exit code: 0 done, 1 the work failed, 2 the call was wrong.
int train_main(int argc, char** argv, const TrainPorts& ports, std::string version = {});

}  // namespace orrery
