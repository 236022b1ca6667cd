#include <array>
#include <charconv>

#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/entries.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

constexpr OptionInfo kSlot = {
    "slot", "plans are made in slots of this length; auto: that of the rounds, or 1m", "auto"};
constexpr OptionInfo kAnew = {"anew", "everybody is placed anew in each round", "false", "",
                              "true"};

Result<Duration> slot(const Options& options, const PolicyContext& context) {
  if (options.text("slot") == "auto") {
    return context.round > Duration::zero() ? context.round : Duration(std::chrono::minutes(1));
  }
  TRY_ASSIGN(const Duration slot, options.duration("slot"));
  if (slot >= std::chrono::seconds(1)) return slot;
  return invalid("slot=" + options.text("slot") + ": a slot is a second at least");
}

// "bert:16;ncf:1"
Result<std::vector<ElasticLimits::Cap>> caps(const Options& options) {
  std::vector<ElasticLimits::Cap> caps;
  const std::string text = options.text("caps");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t colon = part.rfind(':');
    int gpus = 0;
    const char* stop = part.data() + part.size();
    const bool read = colon != std::string::npos && colon > 0 &&
                      std::from_chars(part.data() + colon + 1, stop, gpus).ptr == stop;
    if (!read || gpus < 1) return invalid("caps=" + text + ": write model:GPUs;model:GPUs");
    caps.push_back({part.substr(0, colon), gpus});
    begin = end + 1;
  }
  return caps;
}

constexpr std::array<std::string_view, 3> kAdmissions = {"one-by-one", "batch", "none"};
constexpr std::array<std::string_view, 3> kScaleUps = {"paper", "reference", "paper-in-full"};
constexpr std::array<std::string_view, 2> kKnees = {"fastest", "first-fall"};
constexpr std::array kElasticFlow = {
    OptionInfo{"admission",
               "one-by-one; batch: all arrivals of a round or none, as released; none: everybody "
               "comes in",
               "one-by-one"},
    OptionInfo{"scale-up",
               "free GPUs go where they save most GPU time (paper; paper-in-full weighs everybody "
               "after every gift), or where they cost most (reference, as released)",
               "paper"},
    OptionInfo{"knee",
               "a job gets no more GPUs than it is fastest on, or than it first falls after",
               "fastest", "", "first-fall"},
    OptionInfo{"caps", "models that get fewer than their knee, as model:GPUs;model:GPUs", "", "",
               "bert:16"},
    kAnew,
    kSlot};

Made elasticflow(const Options& options, const PolicyContext& context) {
  ElasticFlowOptions made;
  TRY_ASSIGN(const int admission, options.choice("admission", kAdmissions));
  made.admission = static_cast<ElasticFlowOptions::Admission>(admission);
  TRY_ASSIGN(const int scale_up, options.choice("scale-up", kScaleUps));
  made.scale_up = static_cast<ScaleUp::Rule>(scale_up);
  TRY_ASSIGN(const int knee, options.choice("knee", kKnees));
  made.limits.first_fall = knee == 1;
  TRY_ASSIGN(made.limits.caps, caps(options));
  TRY_ASSIGN(made.anew, options.flag("anew"));
  TRY_ASSIGN(made.slot, slot(options, context));
  return make_elasticflow(made);
}

constexpr OptionInfo kWidest = {"widest",
                                "as many GPUs as a profile has columns for, even if that is slower",
                                "false", "", "true"};
constexpr std::array kEdf = {kWidest, kAnew, kSlot};
constexpr std::array kEdfAdmission = {
    OptionInfo{"late-blocks", "while somebody is late nobody is let in, as released", "false", "",
               "true"},
    kWidest, kAnew, kSlot};

Made edf(const Options& options, const PolicyContext& context, bool admits) {
  EdfOptions made{.admits = admits};
  if (admits) {
    TRY_ASSIGN(made.late_blocks, options.flag("late-blocks"));
  }
  TRY_ASSIGN(made.widest, options.flag("widest"));
  TRY_ASSIGN(made.anew, options.flag("anew"));
  TRY_ASSIGN(made.slot, slot(options, context));
  return make_edf(made);
}
Made edf_alone(const Options& options, const PolicyContext& context) {
  return edf(options, context, false);
}
Made edf_admission(const Options& options, const PolicyContext& context) {
  return edf(options, context, true);
}

constexpr JobData kElasticWithDeadlines = {.curves = true, .deadlines = true};
constexpr std::array kElastic = {
    PolicyInfo{"elasticflow",
               "deadlines promised by minimum shares, free GPUs where they save most", kElasticFlow,
               elasticflow, nullptr, kElasticWithDeadlines},
    PolicyInfo{"edf", "earliest deadline first, as many GPUs as are of use", kEdf, edf_alone,
               nullptr, kElasticWithDeadlines},
    PolicyInfo{"edf-admission", "the same, and nobody comes in who would make someone late",
               kEdfAdmission, edf_admission, nullptr, kElasticWithDeadlines},
};

}  // namespace

std::span<const PolicyInfo> elastic_policies() { return kElastic; }

}  // namespace orrery
