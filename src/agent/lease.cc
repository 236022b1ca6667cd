#include "agent/lease.h"

#include <time.h>

#include "agent/fields.h"
#include "agent/files.h"

namespace orrery {

Duration boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

Status write_lease(const std::string& state, Duration until) {
  Fields fields;
  fields.add("until_ns", until.count());
  return write_file_atomically(state + "/lease", fields.write());
}

Duration read_lease(const std::string& state) {
  const auto fields = read_fields(state + "/lease");
  return fields.ok() ? Duration(fields.value().number("until_ns")) : Duration::zero();
}

}  // namespace orrery
