#include <array>

#include "policy/elastic.h"
#include "policy/entries.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

constexpr std::array kElastic = {
    OptionInfo{"quantum", "the cluster is divided anew at most this often", "1m"}};

Made elastic(const Options& options, std::unique_ptr<ShareRule> rule) {
  ElasticOptions elastic;
  TRY_ASSIGN(elastic.quantum, options.duration("quantum"));
  return make_elastic(std::move(rule), elastic);
}
Made optimus(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_optimus());
}
Made afs(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_afs());
}

constexpr std::array kRivals = {
    PolicyInfo{"optimus", "elastic: the next GPU goes where it saves most time", kElastic, optimus},
    PolicyInfo{"afs",
               "elastic: the next GPU goes to the shorter job, or one that uses it far better",
               kElastic, afs},
};

}  // namespace

std::span<const PolicyInfo> rival_policies() { return kRivals; }

}  // namespace orrery
