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

// When waiting jobs will start, by a prediction that takes time. The prediction runs on a thread of
// its own, one at a time, and its result holds for a second. Callers in the meantime get the same
// result. May be used from any thread.
class StartForecasts : public std::enable_shared_from_this<StartForecasts> {
 public:
  using Starts = std::map<JobNumber, Time>;
  using Predict = std::function<Result<Starts>(const std::string& situation)>;

  static constexpr Duration kHolds = std::chrono::seconds(1);

  static std::shared_ptr<StartForecasts> make(Predict predict) {
    return std::shared_ptr<StartForecasts>(new StartForecasts(std::move(predict)));
  }

  // True if fill() must be given a situation; then it must be called.
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
