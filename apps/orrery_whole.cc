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
  const auto around = std::make_shared<Surroundings>(process_surroundings());
  around->connect = connect_remote;
  around->join = join_remote;
  around->print = print_stream;
  around->width = terminal_width();
  around->catch_interrupts = catch_interrupts;
  around->interrupted = [] { return interrupted().load(); };
  return run(argc, argv,
             {.live = {.whatif = [&](const auto& a) { return whatif_live(a, *around); },
                       .record = [&](const auto& a) { return record_live(a, *around); },
                       .replay = replay_live},
              .add_commands =
                  [&](CLI::App& app, auto& chosen, const auto& program) {
                    add_service_commands(app, chosen);
                    add_live_commands(app, chosen, program, around);
                  },
              .with_program = {"submit"}});
}
