#include "live/daemon/server/memory.h"

#include <unistd.h>

#include <fstream>

namespace orrery {

double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  if (!(file >> total >> resident)) return 0;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace orrery
