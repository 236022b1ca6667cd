#include "commands/commands.h"
#include "report/terminal/words.h"

// The table of `orrery demo`, by a program that needs the simulator alone: `make demo` builds and
// shows it before everything else.
int main() { return orrery::exit_code(orrery::demo_command({})); }
