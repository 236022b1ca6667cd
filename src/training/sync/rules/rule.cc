#include "training/sync/rules/rule.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

std::unique_ptr<SyncRule> make_rule(const Mode& mode, const ZenoOptions& zeno) {
  switch (mode.rule) {
    case SyncRuleKind::Static:
      return make_static_rule(mode.x);
    case SyncRuleKind::Dynamic:
      return make_dynamic_rule(mode.groups);
    case SyncRuleKind::Ssp:
      return make_ssp_rule(mode.bound);
    case SyncRuleKind::Lgc:
      return make_lgc_rule(mode.x);
    case SyncRuleKind::ZenoPlus:
      return make_zeno_rule(zeno);
    case SyncRuleKind::Ring:
      return make_ring_rule();
  }
  INVARIANT(false, "every kind of rule has a maker");
}

void move_all(std::vector<Term>& held, std::vector<Term>& terms) {
  terms.insert(terms.end(), held.begin(), held.end());
  held.clear();
}

void lose_from(std::vector<Term>& held, std::int64_t task) {
  std::erase_if(held, [task](const Term& term) { return term.task == task; });
}

}  // namespace orrery
