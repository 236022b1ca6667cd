#pragma once

#include <cstdint>

namespace orrery {

// A seeded stream of random numbers whose values are the same on every machine and compiler, which
// the standard library promises for its engines but not for its distributions. The generator is
// xoshiro256++, seeded by SplitMix64, after Blackman and Vigna.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t bits();                                       // uniform over all 64-bit values
  double uniform();                                           // [0, 1)
  std::int64_t between(std::int64_t low, std::int64_t high);  // both ends included
  double exponential(double mean);
  double normal();  // mean 0, deviation 1

 private:
  std::uint64_t state_[4];
};

}  // namespace orrery
