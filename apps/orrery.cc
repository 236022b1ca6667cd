#include "agent/supervisor.h"
#include "cli/main.h"

int main(int argc, char** argv) {
  if (const auto code = orrery::supervise_if_asked(argc, argv)) return *code;
  return orrery::run(argc, argv);
}
