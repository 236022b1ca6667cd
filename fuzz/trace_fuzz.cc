#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/invariant.h"
#include "workload/same_workload.h"
#include "workload/trace.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; what was read is written and read back, in both
// syntaxes, and must be the same. The first byte chooses the format.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto formats = trace_formats();
  TraceOptions options;
  if (data[0] % 32 < formats.size()) options.format = formats[data[0] % 32].name;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  const auto workload = parse_trace("fuzz", in, options);
  if (!workload.ok()) {
    INVARIANT(workload.error().code == Code::InvalidArgument, workload.error().message.c_str());
    return 0;
  }
  for (const TraceSyntax syntax : {TraceSyntax::Csv, TraceSyntax::Jsonl}) {
    std::stringstream text;
    const Status written = write_trace(workload.value(), text, syntax);
    INVARIANT(written.ok(), written.error().message.c_str());
    const auto back = parse_trace("back", text, {});
    INVARIANT(back.ok(), back.error().message.c_str());
    INVARIANT(same_workload(workload.value(), back.value()), "a written trace reads back the same");
  }
  return 0;
}
