#include <array>

#include "scheduling/policy/sharing/divider.h"
#include "scheduling/policy/sharing/policies.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kNewcomers = {"at-once", "quantum"};
constexpr std::array kElastic = {
    OptionInfo{"quantum", "the cluster is divided at most this often", "1m", "0s 10m"},
    OptionInfo{
        "newcomers",
        "a new job for which a grown job holds the GPUs gets its smallest number at-once, or "
        "after the quantum",
        "at-once", "quantum"}};

Result<std::unique_ptr<Policy>> elastic(const Options& options, std::unique_ptr<ShareRule> rule) {
  DividerOptions elastic;
  TRY_ASSIGN(elastic.quantum, options.duration("quantum"));
  TRY_ASSIGN(const int newcomers, options.choice("newcomers", kNewcomers));
  elastic.newcomers_at_once = newcomers == 0;
  return make_divider(std::move(rule), elastic);
}
Result<std::unique_ptr<Policy>> optimus(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_optimus());
}
Result<std::unique_ptr<Policy>> afs(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_afs());
}

}  // namespace

const PolicyInfo kOptimusPolicy = {"optimus", "elastic: the next GPU goes where it saves most time",
                                   kElastic,  optimus,
                                   nullptr,   {.curves = true}};
const PolicyInfo kAfsPolicy = {
    "afs",    "elastic: the next GPU goes to the shorter job, or one that uses it far better",
    kElastic, afs,
    nullptr,  {.curves = true}};

}  // namespace orrery
