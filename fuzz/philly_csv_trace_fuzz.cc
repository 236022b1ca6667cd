#include "trace_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  orrery::fuzz_format("philly-csv", data, size);
  return 0;
}
