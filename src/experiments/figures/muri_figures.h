#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace orrery {

// What the figures of Muri (SIGCOMM '22) say about its simulations, and what its released code
// gives: facts to compare with, never used by anything that schedules.

enum class Metric { AvgJct, Makespan, P99Jct };
inline constexpr std::array kMetrics = {Metric::AvgJct, Metric::Makespan, Metric::P99Jct};
using MetricValues = std::array<double, kMetrics.size()>;  // seconds; 0: none

// Where a reference value comes from.
enum class Source {
  Released,   // a complete run of the released code
  Prototype,  // a program with the same arithmetic, checked against partial runs only
  Bisection,  // the released code with another solver in the place of its own
};

enum class Shown {
  Srtf,
  Srsf,
  MuriS,
  Tiresias,
  Themis,
  AntMan,
  MuriL,
  WorstOrdering,
  NoBlossom,
  MuriL2,
  MuriL3,
  MuriL4,
};

// A policy as the figures call it, and what it is here.
struct ShownPolicy {
  std::string_view name;
  std::string_view policy;
  std::string_view key;  // of the one option it has; empty: none
  std::string_view value;
  std::string_view muri;  // the policy whose results it is measured against; empty: it is Muri
};
const ShownPolicy& shown_policy(Shown shown);

struct FigureRow {
  int figure = 0;
  std::string_view trace;
  Shown shown{};
  MetricValues published{};
  MetricValues reference{};
  Source source = Source::Released;
};
std::span<const FigureRow> muri_rows();

struct FigureInfo {
  int number = 0;
  std::string_view title;
};
std::span<const FigureInfo> muri_figures();

// The file a trace is in: two names share one.
std::string_view muri_file(std::string_view trace);

}  // namespace orrery
