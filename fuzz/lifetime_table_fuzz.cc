#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "cloud/lifetimes/lifetime_fit.h"
#include "cloud/lifetimes/lifetime_table.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused, and what is read has an age within the limit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto records =
      parse_lifetimes("fuzz", std::string_view(reinterpret_cast<const char*>(data), size));
  if (!records.ok()) return 0;
  std::vector<LifetimeSample> samples;
  for (const LifetimeRecord& record : records.value()) {
    INVARIANT(record.age >= Duration{} && record.age <= kPreemptibleLife, "ages are capped");
    samples.push_back(sample_of(record));
  }
  (void)fit_weibull(samples);
  (void)Lifetime::empirical(samples).mean_residual({});
  return 0;
}
