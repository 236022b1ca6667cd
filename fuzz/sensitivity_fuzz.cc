#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/invariant.h"
#include "workload/profiles/sensitivity_profiles.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; every profile that was read keeps what a
// sensitivity promises, and is found again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto profiles = parse_sensitivities("fuzz", in);
  if (!profiles.ok()) {
    INVARIANT(profiles.error().code == Code::InvalidArgument, profiles.error().message.c_str());
    return 0;
  }
  INVARIANT(!profiles.value().entries().empty(), "a table that was read has rows");
  for (const SensitivityProfiles::Entry& entry : profiles.value().entries()) {
    const Sensitivity& known = entry.sensitivity;
    const std::size_t columns = known.memory_bytes.size();
    INVARIANT(known.speed.size() == known.cpu_milli.size() * columns, "the grid is full");
    INVARIANT(known.cpu_milli.front() > 0 && entry.iteration_s > 0,
              "a job has a CPU, and takes time");
    for (std::size_t i = 0; i < known.speed.size(); ++i) {
      INVARIANT(known.speed[i] > 0, "every share moves");
      INVARIANT(i < columns || known.speed[i] >= known.speed[i - columns], "CPUs never slow down");
      INVARIANT(i % columns == 0 || known.speed[i] >= known.speed[i - 1], "nor does memory");
    }
    INVARIANT(speed_with(known, known.ideal, 1) > 0, "the ideal share has a speed");
    const auto found = profiles.value().find(entry.model, entry.batch_size, entry.gpu_type);
    INVARIANT(!found.ok() || found.value() != nullptr, "a model that is there is known");
    if (entry.batch_size > 0 && !entry.gpu_type.empty()) {
      INVARIANT(found.ok() && found.value() == &entry, "what is there is found");
    }
  }
  return 0;
}
