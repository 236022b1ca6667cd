#include <optional>

#include "apps/build_version.h"
#include "commands/main.h"
#include "commands/programs/commands.h"
#include "commands/programs/live_calls.h"
#include "commands/programs/remote_client.h"
#include "experiments/runs/output.h"
#include "live/client/commands.h"
#include "live/job_runner/supervisor.h"
#include "report/terminal/interrupt.h"

int main(int argc, char** argv) {
  using namespace orrery;
  if (const auto code = supervise_if_asked(argc, argv)) return *code;
  const auto context = std::make_shared<CommandContext>(process_context());
  context->connect = connect_remote;
  context->join = join_remote;
  context->print = print_stream;
  std::optional<int> code;
  context->exit_with = [&code](int said) { code = said; };
  context->width = terminal_width();
  context->catch_interrupts = catch_interrupts;
  context->interrupted = [] { return interrupted().load(); };
  const int usual = run(argc, argv,
                        {.live = {.whatif = [&](const auto& a) { return whatif_live(a, *context); },
                                  .record = [&](const auto& a) { return record_live(a, *context); },
                                  .replay = replay_live},
                         .add_commands =
                             [&](CLI::App& app, auto& chosen, const auto& program) {
                               add_service_commands(app, chosen);
                               add_live_commands(app, chosen, program, context);
                             },
                         .with_program = {"submit"},
                         .version = build_version("orrery")});
  return usual == 0 ? 0 : code.value_or(usual);
}
