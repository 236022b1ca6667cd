#include "training/trainer/worker/gang_member.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <thread>

#include "training/trainer/head/children.h"
#include "training/trainer/head/gang_desk.h"
#include "training/trainer/head/job_link.h"
#include "training/trainer/transport/part.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kHeadPatience = std::chrono::minutes(2);
constexpr auto kEndPatience = std::chrono::seconds(10);

class GangMember {
 public:
  explicit GangMember(const GangPlace& place)
      : place_(place),
        children_(io_, [this](pid_t, const std::string& how) { worker_ended(how); }) {
    transport_->token = place.token;
  }

  Status run() {
    // Having asked once, this rank answers that it can stop from iteration 1 on: wherever the head
    // does.
    job_.should_stop(0);
    TRY(reach_head());
    while (!outcome_ && end_.ok() && io_.run_one() > 0) {
    }
    // The head stops the workers as well.
    const auto deadline = Clock::now() + kEndPatience;
    while (!children_.running().empty() && io_.run_one_until(deadline) > 0) {
    }
    job_.close(outcome_ == RunOutcome::Finished);
    if (!end_.ok()) return end_;
    if (outcome_ == RunOutcome::Failed) {
      return Error{Code::Aborted, "the run failed; rank 0 says why"};
    }
    return {};
  }

 private:
  Status reach_head() {
    const auto deadline = Clock::now() + kHeadPatience;
    for (;;) {
      auto line = connect_to(io_, place_.address, place_.port, transport_);
      if (line.ok()) {
        line_ = std::move(line).value();
        break;
      }
      if (Clock::now() > deadline) return std::move(line).error().at("the head of the gang");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    line_->send(MessageType::Hello, 0,
                Hello{.role = PartRole::Gang, .id = place_.rank, .pid = getpid()});
    line_->start({.frame = [this](Connection&, MessageFrame& frame) { from_head(frame); },
                  .closed =
                      [this](Connection&, const Error& why) {
                        if (!outcome_) end_ = Error(why).at("the head of the gang is gone");
                      },
                  .place = {}},
                 {.body = 64, .floats = 0});
    return {};
  }

  void from_head(MessageFrame& frame) {
    if (frame.header.type == MessageType::Stop) {
      outcome_ = static_cast<RunOutcome>(frame.header.number);
      return;
    }
    CountMessage count;
    if (frame.header.type != MessageType::Answer || !take(*line_, frame, count)) return;
    for (int worker = 0; worker < count.count; ++worker) start_worker();
  }

  void start_worker() {
    auto started = children_.start({.command = {own_program(), "part"},
                                    .input = part_start_text({.role = PartRole::Worker,
                                                              .id = -1,
                                                              .host = place_.address,
                                                              .port = place_.port,
                                                              .token = place_.token,
                                                              .listen = ""})});
    if (!started.ok()) end_ = started.error();
  }

  // When the head begins another session it drops its workers, and expects them again.
  void worker_ended(const std::string& how) {
    constexpr int kRestartsMost = 100;
    // One that was killed is missed by the head, as any other worker.
    if (outcome_ || !end_.ok() || how != "ended with 1") return;
    if (++restarts_ > kRestartsMost) {
      end_ = Error{Code::Aborted, fmt::format("its workers end at once: one {}", how)};
      return;
    }
    start_worker();
  }

  const GangPlace place_;
  boost::asio::io_context io_{1};
  std::shared_ptr<Transport> transport_{std::make_shared<Transport>()};
  std::shared_ptr<Connection> line_{};
  Children children_;
  JobLink job_{};
  std::optional<RunOutcome> outcome_{};
  int restarts_ = 0;
  Status end_{};
};

}  // namespace

Status run_gang_member(const GangPlace& place) {
  signal(SIGPIPE, SIG_IGN);
  // The head decides when the run ends; a stop of the job reaches it as well.
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  return GangMember(place).run();
}

}  // namespace orrery
