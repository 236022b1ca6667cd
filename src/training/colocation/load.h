#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery {

// A server on which tasks of several training jobs run.
enum class ServerId : std::int32_t {};

// What a task takes of a server, or a server has: cores, and bytes a second in each direction.
struct Load {
  double cpu = 0;
  double in = 0;
  double out = 0;

  Load& operator+=(const Load& other) {
    cpu += other.cpu;
    in += other.in;
    out += other.out;
    return *this;
  }
  Load& operator-=(const Load& other) { return *this += other * -1; }
  friend Load operator+(Load a, const Load& b) { return a += b; }
  friend Load operator-(Load a, const Load& b) { return a -= b; }
  friend Load operator*(Load a, double factor) {
    return {a.cpu * factor, a.in * factor, a.out * factor};
  }
  bool operator==(const Load&) const = default;

  // The fullest of the three if this much is put on a server that has `capacity`.
  double utilisation(const Load& capacity) const {
    return std::max({part(cpu, capacity.cpu), part(in, capacity.in), part(out, capacity.out)});
  }
  bool fits(const Load& capacity) const { return utilisation(capacity) <= 1 + 1e-9; }
  // No part below 0.
  Load positive() const { return {std::max(cpu, 0.0), std::max(in, 0.0), std::max(out, 0.0)}; }

 private:
  // A resource that a server does not have is only too full if it is wanted.
  static double part(double wanted, double there) {
    if (wanted <= 0) return 0;
    return there > 0 ? wanted / there : 1e9;
  }
};

// The three resources one after another, for code that treats them alike.
inline constexpr double Load::*kResources[] = {&Load::cpu, &Load::in, &Load::out};

}  // namespace orrery
