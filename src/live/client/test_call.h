#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "live/client/commands.h"
#include "live/client/fake_client.h"

namespace orrery {

// A folder with what a running scheduler leaves in its state directory; it goes away with this.
class StateFolder {
 public:
  StateFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "orrery-ctl-XXXXXX").string();
    path_ = mkdtemp(name.data());
    write("address", "127.0.0.1:7077\n");
  }
  ~StateFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// `orrery WORDS` against the fake scheduler. An error of parsing is InvalidArgument.
inline Status call(FakeCommandContext& fake, std::vector<std::string> words,
                   const std::vector<std::string>& program = {}) {
  const StateFolder state;
  if (!fake.context.environment.contains("ORRERY_STATE")) {
    fake.context.environment["ORRERY_STATE"] = state.path();
  }
  CLI::App app;
  app.require_subcommand(1);  // as the program has it
  std::function<Status()> run;
  add_live_commands(app, run, program, std::make_shared<const CommandContext>(fake.context));
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError& problem) {
    return invalid(problem.what());
  }
  Status done = run();
  if (fake.context.environment["ORRERY_STATE"] == state.path()) {
    fake.context.environment.erase("ORRERY_STATE");
  }
  return done;
}

}  // namespace orrery
