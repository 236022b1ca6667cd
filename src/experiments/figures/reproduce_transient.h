#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/analysis/analysis.h"
#include "experiments/figures/comparison.h"
#include "experiments/figures/reproduce_arguments.h"

namespace orrery {

// One number of a figure of Transient-DL or CM-DARE, three times. Published: the paper, or what the
// authors made of their measurements. Reference: recomputed from the measurements themselves. Ours:
// what our models say, or our way to count.
struct TransientRow : Comparison {
  std::string figure;  // "1", "8", "tables", "cm-dare"
  std::string what;    // "k80_spot/8-spot: time, s"
};

// All rows for which there are data.
std::vector<TransientRow> transient_rows(const PublishedData& data, const Analysis& analysis);

std::string transient_text(std::span<const TransientRow> rows);

Status reproduce_transient(const ReproduceArguments& arguments);

}  // namespace orrery
