#include "workload/generators/python_random.h"

#include <algorithm>
#include <bit>
#include <span>

#include "base/invariant.h"

namespace orrery {

PythonRandom::PythonRandom(std::uint64_t seed) {
  const std::array<std::uint32_t, 2> words = {static_cast<std::uint32_t>(seed),
                                              static_cast<std::uint32_t>(seed >> 32)};
  const auto key = std::span(words).first(words[1] == 0 ? 1 : 2);
  state_[0] = 19650218;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  std::size_t at = 1;
  const auto mix = [&](std::uint32_t factor) {
    return state_[at] ^ ((state_[at - 1] ^ (state_[at - 1] >> 30)) * factor);
  };
  const auto advance = [&] {
    if (++at < kWords) return;
    state_[0] = state_[kWords - 1];
    at = 1;
  };
  std::size_t k = 0;
  for (std::size_t round = 0; round < std::max(kWords, key.size()); ++round) {
    state_[at] = mix(1664525U) + key[k] + static_cast<std::uint32_t>(k);
    advance();
    k = (k + 1) % key.size();
  }
  for (std::size_t round = 0; round < kWords - 1; ++round) {
    state_[at] = mix(1566083941U) - static_cast<std::uint32_t>(at);
    advance();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::refill() {
  constexpr std::size_t kOffset = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t joined =
        (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    const std::uint32_t twist = (joined & 1U) != 0 ? 0x9908b0dfU : 0U;
    state_[i] = state_[(i + kOffset) % kWords] ^ (joined >> 1) ^ twist;
  }
  next_ = 0;
}

std::uint32_t PythonRandom::bits() {
  if (next_ == kWords) refill();
  std::uint32_t word = state_[next_++];
  word ^= word >> 11;
  word ^= (word << 7) & 0x9d2c5680U;
  word ^= (word << 15) & 0xefc60000U;
  return word ^ (word >> 18);
}

double PythonRandom::random() {
  const std::uint32_t high = bits() >> 5;
  const std::uint32_t low = bits() >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

double PythonRandom::uniform(double low, double high) { return low + (high - low) * random(); }

std::uint32_t PythonRandom::below(std::uint32_t count) {
  INVARIANT(count > 0, "one of none cannot be chosen");
  const int unused = std::countl_zero(count);
  std::uint32_t value = bits() >> unused;
  while (value >= count) value = bits() >> unused;
  return value;
}

}  // namespace orrery
