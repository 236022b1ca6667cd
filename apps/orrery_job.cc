#include "live/job_runner/supervisor.h"

// Stands above one job. It is a program of its own because one is started for every job, and all
// that `orrery` links would be loaded each time.
int main(int argc, char** argv) { return orrery::supervise_if_asked(argc, argv).value_or(2); }
