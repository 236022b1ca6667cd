#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/invariant.h"
#include "workload/profiles/speed_profiles.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; every profile that was read keeps what a speed
// curve promises, and is found again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto profiles = parse_profiles("fuzz", in);
  if (!profiles.ok()) {
    INVARIANT(profiles.error().code == Code::InvalidArgument, profiles.error().message.c_str());
    return 0;
  }
  INVARIANT(!profiles.value().entries().empty(), "a table that was read has rows");
  for (const SpeedProfiles::Entry& entry : profiles.value().entries()) {
    const SpeedCurve& curve = entry.curve;
    INVARIANT(!curve.points.empty(), "a profile has a count it can run on");
    INVARIANT(curve.widest >= curve.points.back().gpus, "the widest column is not below a point");
    int before = 0;
    for (const SpeedCurve::Point& point : curve.points) {
      INVARIANT(point.gpus > before && point.iterations_per_s > 0, "points rise and move");
      before = point.gpus;
    }
    const SpeedCurve* found = profiles.value().find(entry.model, entry.batch_size, entry.gpu_type);
    INVARIANT(found == &curve, "what is there is found");
  }
  return 0;
}
