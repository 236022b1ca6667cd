#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/mode_selection/grant.h"
#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/share_messages.h"

namespace orrery {

// A run's line to the servers that it shares (`orrery-train servers`): what each of its tasks may
// use, now and later, and whether it may go into a looser mode. When the line is gone, the run
// keeps what it has, and nothing more is granted.
class ServersLine final : public ModeGrant, public std::enable_shared_from_this<ServersLine> {
 public:
  struct Handlers {
    std::function<void(int task, const Load& limit)> limit{};
    std::function<void(const std::string& why)> lost{};
  };

  // `folder` is that of the servers. Blocks until they have answered.
  static Result<std::shared_ptr<ServersLine>> join(boost::asio::io_context& io,
                                                   const std::string& folder,
                                                   const JoinServersMessage& requests);
  ~ServersLine() override;
  ServersLine(const ServersLine&) = delete;
  ServersLine& operator=(const ServersLine&) = delete;

  const std::vector<TaskPlace>& places() const { return places_; }
  // Limits that have come before are passed on at once.
  void handle(Handlers handlers);
  void report(const JobReport& report);
  // A grant that was not made use of for a while goes back.
  void tick(Time now);
  // Another session begins, in SSGD.
  void restart();

  // Later, until the answer has come.
  GrantAnswer may(const GrantRequest& request) override;
  void given_back(Time now) override;

 private:
  ServersLine(std::shared_ptr<Connection> connection, int workers);
  void came(MessageFrame& frame);
  bool take_places(MessageFrame& frame);
  bool take_limits(MessageFrame& frame);
  bool take_answer(MessageFrame& frame);
  void give_back();

  struct Question {
    std::int64_t number = 0;
    Mode mode{};
    Time at{};
    std::optional<bool> granted{};
  };
  std::shared_ptr<Connection> connection_;
  Handlers handlers_{};
  std::vector<TaskPlace> places_{};
  int workers_ = 0;
  std::vector<std::pair<std::int32_t, Load>> early_{};
  std::optional<Question> question_{};
  std::int64_t next_ = 1;
  bool in_use_ = false;  // a looser mode was gone into
  Status end_{};
};

}  // namespace orrery
