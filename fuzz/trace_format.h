#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "workload/same_workload.h"
#include "workload/trace.h"

namespace orrery {

// Whatever the bytes are, the format reads or refuses them; what was read is written in ours, in
// both syntaxes, read back, and must be the same.
inline void fuzz_format(std::string_view format, const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto workload = parse_trace("fuzz", in, {.format = std::string(format)});
  if (!workload.ok()) {
    INVARIANT(workload.error().code == Code::InvalidArgument, workload.error().message.c_str());
    return;
  }
  for (const TraceSyntax syntax : {TraceSyntax::Csv, TraceSyntax::Jsonl}) {
    std::stringstream text;
    const Status written = write_trace(workload.value(), text, syntax);
    INVARIANT(written.ok(), written.error().message.c_str());
    const auto back = parse_trace("back", text, {.format = "orrery"});
    INVARIANT(back.ok(), back.error().message.c_str());
    INVARIANT(same_workload(workload.value(), back.value()), "a written trace reads back the same");
  }
}

}  // namespace orrery
