#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "live/auth/credentials.h"

namespace orrery {

struct UpkeepOptions {
  std::string directory{};                // trust/ of the scheduler
  std::vector<std::string> hosts{};       // as at its start
  std::function<void()> check_callers{};  // ends connections whose certificate is not good
  std::function<void()> let_agents_reconnect{};
  std::function<void(const std::string&)> say{};
};

// What a scheduler does about certificates while it runs: renews its own, so that agents connect
// again to the new one, and ends the connections of callers whose certificate has ended or was
// revoked.
class Upkeep {
 public:
  // `own` is what the servers show at their start.
  Upkeep(UpkeepOptions options, const Credentials& own, std::chrono::sys_seconds now);

  // To be called again and again, every kBetween or sooner.
  void tick(std::chrono::sys_seconds now);

  static constexpr std::chrono::seconds kBetween{10};

 private:
  // gRPC looks at the files every ten seconds; agents reconnect after that.
  static constexpr std::chrono::seconds kUntilShown{30};
  static constexpr std::chrono::hours kBetweenLooks{1};

  void renew(std::chrono::sys_seconds now);

  const UpkeepOptions options_;
  std::string certificate_;
  std::chrono::sys_seconds look_at_;
  std::optional<std::chrono::sys_seconds> reconnect_at_;
};

// Calls `tick` every so often on a thread of its own until it is destroyed.
class Ticker {
 public:
  Ticker(std::chrono::seconds every, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace orrery
