#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "live/client/job_file.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; what was read and finished can be submitted.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto drafts = parse_job_file("fuzz", text);
  if (!drafts.ok()) {
    INVARIANT(drafts.error().code == Code::InvalidArgument, drafts.error().message.c_str());
    INVARIANT(drafts.error().message.starts_with("fuzz:"), "says where");
    return 0;
  }
  INVARIANT(!drafts.value().empty(), "a file that was read has a job");
  const Environment environment{{"HOME", "/home/ann"}};
  for (const JobDraft& draft : drafts.value()) {
    const auto request = finish(draft, {.environment = environment, .directory = "/home/ann"});
    if (!request.ok()) continue;
    INVARIANT(check(request.value()).ok(), "a finished job passes");
    const auto again = read_job_request_json(job_request_json(request.value()));
    INVARIANT(again.ok() && again.value() == request.value(), "and survives the wire");
  }
  return 0;
}
