#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace orrery {

// How many questions are answered at a time that each need a thread and a copy of all jobs. Calls
// from any thread.
class QuestionLimit {
 public:
  static constexpr int kOfOneMost = 2;
  static constexpr int kMost = 16;

  // Held as long as the question is being answered, also beyond the life of this object.
  using Place = std::shared_ptr<void>;
  // ResourceExhausted if as many of this caller, or of all, are under way.
  Result<Place> enter(const std::string& caller);

 private:
  struct UnderWay {
    std::mutex mutex{};
    std::map<std::string, int> of{};  // by caller
    int all = 0;
  };
  const std::shared_ptr<UnderWay> under_way_ = std::make_shared<UnderWay>();
};

}  // namespace orrery
