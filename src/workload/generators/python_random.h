#pragma once

#include <array>
#include <cstdint>

namespace orrery {

// The stream that Python's random.Random gives for a whole seed: the Mersenne Twister MT19937 of
// Matsumoto and Nishimura, seeded by its array initialisation, and Python's way from its words to
// numbers. For published generators, so that their traces are equal to the bit; all else takes
// Random.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  double random();                          // [0, 1), 53 bits
  double uniform(double low, double high);  // low + (high - low) * random()
  // A whole number below `count`, as choice() takes it; count is at least 1.
  std::uint32_t below(std::uint32_t count);

 private:
  static constexpr std::size_t kWords = 624;

  std::uint32_t bits();
  void refill();

  std::array<std::uint32_t, kWords> state_{};
  std::size_t next_ = kWords;
};

}  // namespace orrery
