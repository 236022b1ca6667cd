#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace orrery {

// One number of a published figure, three times.
struct Comparison {
  std::optional<double> published;
  std::optional<double> reference;  // what the released code gives
  std::optional<double> ours;
  double rounding = 0;  // how far the reference may be off because it was printed so short

  // Of ours, in per cent, to the reference or, without one, to the published value.
  std::optional<double> difference_pct() const;
};

// "same", "+1.02 %", or "-" where there is nothing to compare.
std::string difference_text(const Comparison& row);

// How many values of ours agree with the reference, or, where there is none, with what is
// published.
struct Tally {
  int compared = 0;
  int same = 0;
  int within_1_pct = 0;
  std::size_t worst = 0;  // the farthest off, if any was compared
};
Tally tally(std::span<const Comparison> rows, bool with_reference);

// Two lines, the second about the farthest; empty when nothing was compared. `what` names the
// values counted, `where` the place of the farthest.
std::string tally_text(const Tally& count, std::span<const Comparison> rows, std::string_view what,
                       std::string_view where);

}  // namespace orrery
