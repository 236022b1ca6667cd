#include "commands/programs/job_limits.h"

#include "live/client/job_texts.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

// "1G"; 0 is written as it is, and "unlimited" is `none`.
Result<std::int64_t> read_size(const char* option, const std::string& text, std::int64_t none) {
  if (text == "unlimited") return none;
  if (text == "0") return 0;
  auto size = parse_memory(text);
  if (!size.ok()) return std::move(size).error().at(option);
  return size;
}

}  // namespace

Status set_job_limits(const JobLimitArguments& arguments, AgentOptions& options) {
  options.cgroup = arguments.cgroup == "off" ? "" : arguments.cgroup;
  if (arguments.processes < 0) return invalid("--job-processes: write 0 (no limit) or more");
  options.processes_most = arguments.processes;
  TRY_ASSIGN(options.core_bytes, read_size("--core-size", arguments.core, -1));
  TRY_ASSIGN(options.logs.bytes, read_size("--log-size", arguments.log_size, 0));
  if (options.logs.bytes == 0 && arguments.log_size != "unlimited") {
    return invalid("--log-size: write a size such as 1G, or unlimited");
  }
  auto age = parse_duration(arguments.log_age);
  if (!age.ok()) return std::move(age).error().at("--log-age");
  options.logs.age = age.value();
  return {};
}

}  // namespace orrery
