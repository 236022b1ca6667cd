#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "base/result.h"

namespace orrery {

// The answer of a call of the Api, waited for: answer_of<NodesAnswer>([&](auto reply) {
// api.nodes(caller, {}, std::move(reply)); }). A scheduler answers within milliseconds; one that
// does not answer within ten seconds is Unavailable.
template <class Answer, class Call>
Result<Answer> answer_of(Call call) {
  constexpr std::chrono::seconds kAnswerMax{10};
  auto promise = std::make_shared<std::promise<Result<Answer>>>();
  auto answer = promise->get_future();
  call([promise](Result<Answer> given) { promise->set_value(std::move(given)); });
  if (answer.wait_for(kAnswerMax) != std::future_status::ready) {
    return Error{Code::Unavailable, "the scheduler did not answer within 10 s"};
  }
  return answer.get();
}

}  // namespace orrery
