#include "live/job_runner/lease.h"

#include <time.h>

#include "base/files.h"
#include "live/job_runner/fields.h"

namespace orrery {

Duration boot_time() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + Duration(now.tv_nsec);
}

Duration runs_until(const Lease& lease, Duration node_timeout) {
  // A file of an earlier release does not say when the scheduler answered.
  if (node_timeout == Duration::zero() || lease.answered == Duration::zero()) return lease.until;
  return lease.answered + node_timeout;
}

Status write_lease(const std::string& state, const Lease& lease) {
  Fields fields;
  fields.add("until_ns", lease.until.count());
  fields.add("answered_ns", lease.answered.count());
  fields.add("term", lease.term);
  fields.add("log", lease.log);
  return write_file_atomically(state + "/lease", fields.write());
}

Lease read_lease(const std::string& state) {
  const auto fields = read_fields(state + "/lease");
  if (!fields.ok()) return {};
  return {.until = Duration(fields.value().number("until_ns")),
          .answered = Duration(fields.value().number("answered_ns")),
          .term = fields.value().number("term"),
          .log = fields.value().text("log")};
}

}  // namespace orrery
