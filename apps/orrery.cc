#include "cli/interrupt.h"
#include "cli/main.h"
#include "cli/output.h"
#include "ctl/commands.h"
#include "ctl/live_variants.h"

namespace {

using namespace orrery;

ConnectionArguments connection(const LiveArguments& live) {
  return {.state = live.state, .server = live.server, .credentials = live.credentials};
}

}  // namespace

int main(int argc, char** argv) {
  const auto around = std::make_shared<Surroundings>(process_surroundings());
  around->print = print_text;
  around->width = terminal_width();
  around->catch_interrupts = catch_interrupts;
  around->interrupted = [] { return interrupted().load(); };
  return run(argc, argv,
             {.live = {.whatif =
                           [&](const WhatifArguments& a) {
                             return live_whatif({.connection = connection(a.live),
                                                 .job = a.job,
                                                 .job_file = a.job_file,
                                                 .policy = a.policy,
                                                 .nodes_more = a.nodes_more,
                                                 .json = a.json},
                                                *around);
                           },
                       .record =
                           [&](const RecordArguments& a) {
                             return live_record(
                                 {.connection = connection(a.live), .output = a.output}, *around);
                           }},
              .add_commands =
                  [&](CLI::App& app, auto& chosen, const auto& program) {
                    add_live_commands(app, chosen, program, around);
                  },
              .with_program = {"submit"}});
}
