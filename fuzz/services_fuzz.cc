// Any bytes as a file of services: an error that names a line, or numbers above 0.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "scheduling/policy/order/services.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto services = orrery::parse_services("input", in);
  if (!services.ok()) {
    if (services.error().message.rfind("input:", 0) != 0) std::abort();
    return 0;
  }
  for (const double service : services.value()) {
    if (!(service > 0)) std::abort();
  }
  return 0;
}
