#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

namespace orrery {

// What a run and its machine have for workers.
struct WorkerCapacity {
  int present = 0;          // workers that it has, or is about to have
  std::int64_t batch = 0;   // each worker needs a sample of it
  int emulated = 0;         // emulated servers for workers; 0: none are emulated
  int asked_most = 0;       // --workers-most; 0: not said
  bool anyway = false;      // --anyway: beyond what the machine is thought to bear
  int cores = 0;            // of this machine; 0: not known
  double memory_free = 0;   // bytes; 0: not known
  double worker_bytes = 0;  // that one worker uses; 0: not known
};

struct WorkerLimit {
  int most = 1;
  std::string why{};  // "2 cores, 4 workers each"
};

// The batch and emulated servers always limit. Cores and memory do so unless the run or the caller
// names a number; a run never has to give up workers for them.
WorkerLimit worker_limit(const WorkerCapacity& capacity);

struct WorkerStart {
  int ready = 0;     // workers that have loaded their model
  int starting = 0;  // workers that have been started and are not ready
  int wanted = 0;    // workers of the run in all
  int cores = 0;     // of this machine; 0: not known
};
// How many workers to start now. The first one starts alone, since it shows how much memory a
// worker takes. Of the others no more start at once than there are cores.
int workers_to_start(const WorkerStart& start);

int machine_cores();
double memory_free_bytes();  // by the kernel's estimate, and within the container's limit
double memory_used_bytes(std::span<const pid_t> processes);  // of the largest; 0: not known

}  // namespace orrery
