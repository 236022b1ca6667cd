#include "experiments/figures/elasticflow_figures.h"

#include <algorithm>

namespace orrery::elasticflow {
namespace {

using enum Shown;
using enum Metric;

constexpr std::array kPolicies = {
    ShownPolicy{"EDF", "edf", "", "edf"},
    ShownPolicy{"EDF + admission", "edf-admission", "", "edf-accessctrl"},
    ShownPolicy{"EDF + elastic", "elasticflow", "scale-up=reference:admission=none", "ef"},
    ShownPolicy{"Gandiva", "gandiva", "", "gandiva"},
    ShownPolicy{"Tiresias", "las", "", "dlas-gpu"},
    ShownPolicy{"Themis", "themis", "", "themis"},
    ShownPolicy{"Chronus", "chronus", "", "chronus"},
    ShownPolicy{"Pollux", "pollux", "", ""},
    ShownPolicy{"ElasticFlow", "elasticflow", "scale-up=reference:admission=batch",
                "ef-accessctrl"},
    ShownPolicy{"our elasticflow", "elasticflow", "", ""},
    ShownPolicy{"orrery-deadline", "orrery-deadline", "", ""},
};

constexpr std::array kRatio = {DeadlineRatio};
constexpr std::array kRatioJctEfficiency = {DeadlineRatio, AvgJct, Efficiency};
constexpr std::array kRatioGain = {DeadlineRatio, BestEffortGain};

constexpr std::array kWithPollux = {Edf,    Gandiva,  Tiresias, Themis,        Chronus,
                                    Pollux, Released, Ours,     OrreryDeadline};
constexpr std::array kUsual = {Edf,     Gandiva,  Tiresias, Themis,
                               Chronus, Released, Ours,     OrreryDeadline};
constexpr std::array kAblation = {Edf, EdfAdmission, EdfElastic, Released, Ours, OrreryDeadline};

constexpr std::array kFigures = {
    Figure{"8a", "195 jobs on 64 T4 GPUs, beside Pollux", "T4", 60, kRatio, kWithPollux, ""},
    Figure{"8b", "clusters 1 to 10 and Philly", "A100", 60, kRatio, kUsual,
           "Philly is run on 32 GPUs (n4g8): the released script names 256 (n32g8), but what\n"
           "the figure shows is what 32 give."},
    Figure{"9", "1000 jobs: what admission and elasticity bring", "A100", 240, kRatio, kAblation,
           "The deadlines of the paper's trace were drawn without a seed and are lost: only\n"
           "trends compare with the published values."},
    Figure{"10", "100 jobs with loose deadlines on 128 GPUs", "A100", 240, kRatioJctEfficiency,
           kUsual,
           "Published is what the authors' logs hold. That of ElasticFlow stands on an older\n"
           "revision of its code than the one released last, which the reference is."},
    Figure{"11", "200 jobs on 64 GPUs, some without a deadline", "A100", 240, kRatioGain, kUsual,
           "The deadlines of the paper's traces were drawn without a seed and are lost: only\n"
           "trends compare with the published values. Gain: mean JCT of the jobs without a\n"
           "deadline under Gandiva, divided by that under the policy."},
};

constexpr Setting kSettings[] = {
    {"8a", "195 jobs", "elasticVpollux_e", "n16g4"},
    {"8b", "cluster01", "cluster01", "n64g8"},
    {"8b", "cluster02", "cluster02", "n64g8"},
    {"8b", "cluster03", "cluster03", "n64g8"},
    {"8b", "cluster04", "cluster04", "n128g8"},
    {"8b", "cluster05", "cluster05", "n64g8"},
    {"8b", "cluster06", "cluster06", "n64g8"},
    {"8b", "cluster07", "cluster07", "n128g8"},
    {"8b", "cluster08", "cluster08", "n128g8"},
    {"8b", "cluster09", "cluster09", "n128g8"},
    {"8b", "cluster10", "cluster10", "n32g8"},
    {"8b", "Philly", "philly_103959", "n4g8"},
    {"9", "64 GPUs", "1000job_1500lam", "n8g8"},
    {"9", "128 GPUs", "1000job_1500lam", "n16g8"},
    {"9", "256 GPUs", "1000job_1500lam", "n32g8"},
    {"10", "100 jobs", "fig10_authors", "n16g8"},
    {"11", "10 %", "200jobs_900lam_0.1", "n8g8", 10},
    {"11", "20 %", "200jobs_900lam_0.2", "n8g8", 20},
    {"11", "30 %", "200jobs_900lam_0.3", "n8g8", 30},
    {"11", "40 %", "200jobs_900lam_0.4", "n8g8", 40},
    {"11", "50 %", "200jobs_900lam_0.5", "n8g8", 50},
    {"11", "60 %", "200jobs_900lam_0.6", "n8g8", 60},
    {"11", "70 %", "200jobs_900lam_0.7", "n8g8", 70},
    {"11", "80 %", "200jobs_900lam_0.8", "n8g8", 80},
    {"11", "90 %", "200jobs_900lam_0.9", "n8g8", 90},
};

// By the set-ups of the figure, in their order.
struct Published {
  std::string_view figure;
  Metric metric{};
  Shown shown{};
  std::array<double, 11> values{};
};

// clang-format off
constexpr Published kPublished[] = {
    {"8a", DeadlineRatio, Edf, {.118}},
    {"8a", DeadlineRatio, Gandiva, {.09}},
    {"8a", DeadlineRatio, Tiresias, {.287}},
    {"8a", DeadlineRatio, Themis, {.312}},
    {"8a", DeadlineRatio, Chronus, {.262}},
    {"8a", DeadlineRatio, Pollux, {.523}},
    {"8a", DeadlineRatio, Released, {.728}},
    {"8b", DeadlineRatio, Edf, {.182, .228, .095, .007, .375, .105, .046, .252, .800, .769, .01}},
    {"8b", DeadlineRatio, Gandiva,
     {.246, .286, .314, .228, .228, .381, .351, .325, .329, .354, .15}},
    {"8b", DeadlineRatio, Tiresias,
     {.478, .470, .401, .120, .420, .466, .346, .373, .468, .473, .32}},
    {"8b", DeadlineRatio, Themis,
     {.464, .431, .389, .432, .430, .425, .437, .423, .456, .431, .33}},
    {"8b", DeadlineRatio, Chronus,
     {.474, .445, .426, .450, .453, .432, .460, .447, .466, .454, .324}},
    {"8b", DeadlineRatio, Released,
     {.788, .822, .455, .631, .832, .607, .665, .896, .938, .981, .87}},
    {"9", DeadlineRatio, Edf, {.026, .118, .118}},
    {"9", DeadlineRatio, EdfAdmission, {.203, .326, .658}},
    {"9", DeadlineRatio, EdfElastic, {.452, .835, .939}},
    {"9", DeadlineRatio, Released, {.926, .949, .944}},
    {"10", DeadlineRatio, Edf, {.92}},
    {"10", DeadlineRatio, Gandiva, {.79}},
    {"10", DeadlineRatio, Tiresias, {1.0}},
    {"10", DeadlineRatio, Themis, {.99}},
    {"10", DeadlineRatio, Released, {1.0}},
    {"10", AvgJct, Edf, {63319}},
    {"10", AvgJct, Gandiva, {63853}},
    {"10", AvgJct, Tiresias, {51046}},
    {"10", AvgJct, Themis, {51243}},
    {"10", AvgJct, Released, {24306}},
    {"11", DeadlineRatio, Edf, {.09, .10, .15, .15, .23, .28, .44, .79, .95}},
    {"11", DeadlineRatio, Gandiva, {.25, .24, .20, .18, .19, .17, .18, .18, .16}},
    {"11", DeadlineRatio, Tiresias, {.46, .46, .44, .42, .43, .41, .44, .50, .53}},
    {"11", DeadlineRatio, Themis, {.41, .40, .37, .34, .36, .34, .35, .42, .37}},
    {"11", DeadlineRatio, Chronus, {.42, .42, .40, .37, .40, .39, .42, .50, .53}},
    {"11", DeadlineRatio, Released, {.74, .67, .67, .69, .68, .76, .82, .92, .95}},
    {"11", BestEffortGain, Edf, {.05, .05, .05, .05, .07, .07, .08, .08, .10}},
    {"11", BestEffortGain, Tiresias, {1.44, 1.39, 1.33, 1.31, 1.26, 1.27, 1.28, 1.30, 1.45}},
    {"11", BestEffortGain, Themis, {1.37, 1.36, 1.34, 1.32, 1.26, 1.27, 1.29, 1.29, 1.46}},
    {"11", BestEffortGain, Chronus, {1.50, 1.45, 1.40, 1.38, 1.29, 1.29, 1.28, 1.29, 1.44}},
    {"11", BestEffortGain, Released, {1.60, 1.37, 1.18, 1.11, 1.27, 1.24, 1.19, 1.16, 1.31}},
};
// clang-format on

}  // namespace

const ShownPolicy& shown_policy(Shown shown) { return kPolicies[static_cast<std::size_t>(shown)]; }

std::span<const Figure> figures() { return kFigures; }

std::span<const Setting> settings() { return kSettings; }

double published(std::string_view figure, Metric metric, Shown shown, std::size_t setting) {
  const auto row = std::ranges::find_if(kPublished, [&](const Published& candidate) {
    return candidate.figure == figure && candidate.metric == metric && candidate.shown == shown;
  });
  return row == std::end(kPublished) ? 0 : row->values.at(setting);
}

std::string_view metric_key(Metric metric) {
  switch (metric) {
    case DeadlineRatio:
      return "deadline_ratio";
    case AvgJct:
      return "avg_jct_s";
    case Efficiency:
      return "cluster_efficiency";
    case BestEffortGain:
      return "best_effort_gain";
  }
  return "";
}

std::string_view metric_title(Metric metric) {
  switch (metric) {
    case DeadlineRatio:
      return "share of the deadlines that are met";
    case AvgJct:
      return "average JCT (s)";
    case Efficiency:
      return "cluster efficiency, mean over time";
    case BestEffortGain:
      return "gain in JCT over Gandiva, jobs without a deadline";
  }
  return "";
}

}  // namespace orrery::elasticflow
