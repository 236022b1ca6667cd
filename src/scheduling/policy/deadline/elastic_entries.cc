#include <array>

#include "scheduling/policy/deadline/elastic.h"
#include "scheduling/policy/entries.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

constexpr OptionInfo kAnew = {"anew", "everybody is placed anew in each round", "false"};

constexpr OptionInfo kWidest = {
    "widest", "as many GPUs as a profile has columns for, even if that is slower", "false"};
constexpr std::array kEdf = {kWidest, kAnew, kSlotOption};
constexpr std::array kEdfAdmission = {
    OptionInfo{"late-blocks", "while somebody is late nobody is let in, as released", "false"},
    kWidest, kAnew, kSlotOption};

Made edf(const Options& options, const PolicyContext& context, bool admits) {
  EdfOptions made{.admits = admits};
  if (admits) {
    TRY_ASSIGN(made.late_blocks, options.flag("late-blocks"));
  }
  TRY_ASSIGN(made.widest, options.flag("widest"));
  TRY_ASSIGN(made.anew, options.flag("anew"));
  TRY_ASSIGN(made.slot, slot_option(options, context));
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
    PolicyInfo{"edf", "earliest deadline first, as many GPUs as are of use", kEdf, edf_alone,
               nullptr, kElasticWithDeadlines},
    PolicyInfo{"edf-admission", "the same, and nobody comes in who would make someone late",
               kEdfAdmission, edf_admission, nullptr, kElasticWithDeadlines},
};

}  // namespace

std::span<const PolicyInfo> elastic_policies() { return kElastic; }

}  // namespace orrery
