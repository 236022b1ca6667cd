#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "training/step_trace/training_shape.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused, and what was read is in its range.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto shape =
      parse_training_shape("meta", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!shape.ok()) {
    INVARIANT(shape.error().code == Code::InvalidArgument, shape.error().message.c_str());
    return 0;
  }
  INVARIANT(shape.value().workers >= 1 && shape.value().workers <= kWorkersMost, "dp_size");
  INVARIANT(shape.value().stages >= 1 && shape.value().stages <= kStagesMost, "pp_size");
  return 0;
}
