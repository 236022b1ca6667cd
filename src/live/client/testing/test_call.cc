#include "live/client/testing/test_call.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>

#include "live/client/commands.h"

namespace orrery {

Status call(FakeCommandContext& fake, std::vector<std::string> words,
            const std::vector<std::string>& program) {
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
