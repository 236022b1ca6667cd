#include "live/daemon/answers/question_limit.h"

#include <fmt/format.h>

namespace orrery {

Result<QuestionLimit::Place> QuestionLimit::enter(const std::string& caller) {
  const std::lock_guard lock(under_way_->mutex);
  const auto own = under_way_->of.find(caller);
  const int of_caller = own == under_way_->of.end() ? 0 : own->second;
  if (of_caller >= kOfOneMost || under_way_->all >= kMost) {
    return Error{Code::ResourceExhausted,
                 fmt::format("{} questions of {} are being answered; ask again when one has its "
                             "answer",
                             of_caller >= kOfOneMost ? of_caller : under_way_->all,
                             of_caller >= kOfOneMost ? caller : "all users")};
  }
  ++under_way_->of[caller];
  ++under_way_->all;
  return Place(nullptr, [under_way = under_way_, caller](void*) {
    const std::lock_guard leave(under_way->mutex);
    if (--under_way->of[caller] == 0) under_way->of.erase(caller);
    --under_way->all;
  });
}

}  // namespace orrery
