#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "live/api/api.h"

namespace orrery {

// When jobs that wait will start, by the word of somebody who takes his time: he is asked on a
// thread of his own, never twice at once, and what he said holds for a second. Whoever asks
// meanwhile gets the same answer. May be used from any thread.
class StartForecasts : public std::enable_shared_from_this<StartForecasts> {
 public:
  using Starts = std::map<JobNumber, Time>;
  using Predict = std::function<Result<Starts>(const std::string& situation)>;

  static constexpr Duration kHolds = std::chrono::seconds(1);

  static std::shared_ptr<StartForecasts> make(Predict predict) {
    return std::shared_ptr<StartForecasts>(new StartForecasts(std::move(predict)));
  }

  // Whether fill() has to be given a situation; then it must be called.
  bool wants_situation(Time now);
  // Puts predicted starts into the answer and replies, sooner or later. `era_s` is when cluster
  // time was 0, in seconds since 1970. Where nothing can be predicted the answer stays as it is.
  void fill(StatusAnswer answer, double era_s, const std::optional<std::string>& situation,
            Reply<StatusAnswer> reply);

 private:
  explicit StartForecasts(Predict predict) : predict_(std::move(predict)) {}

  struct Waiter {
    StatusAnswer answer{};
    double era_s = 0;
    Reply<StatusAnswer> reply{};
  };
  void ask(const std::string& situation);
  static void reply(Waiter waiter, const Starts& starts);

  const Predict predict_;
  std::mutex mutex_;  // guards what follows
  Starts starts_;
  std::optional<Time> asked_;
  bool asks_ = false;
  std::vector<Waiter> waiters_;
};

}  // namespace orrery
