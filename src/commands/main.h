#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "commands/live_commands.h"

namespace CLI {
class App;
}

namespace orrery {

// Commands that come from elsewhere.
struct Extension {
  LiveCommands live{};
  // Adds subcommands; the one that is chosen puts what it does into `run`. `program` are the words
  // after --, for the commands named in `with_program`.
  std::function<void(CLI::App& app, std::function<Status()>& run,
                     const std::vector<std::string>& program)>
      add_commands{};
  std::vector<std::string> with_program{};
  std::string version{};  // what --version prints
};

// Adds every command of `orrery` to the application, with its options and what they say of
// themselves. The command that is chosen puts what it does into `run`. `app`, `run` and `extension`
// must outlive what is chosen.
void add_commands(CLI::App& app, std::function<Status()>& run, const Extension& extension,
                  const std::vector<std::string>& program = {});

// The `orrery` program. Answers its exit code: 0 done, 1 the work failed, 2 the call was wrong.
int run(int argc, char** argv, const Extension& extension = {});

}  // namespace orrery
