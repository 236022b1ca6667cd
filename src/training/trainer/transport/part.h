#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/libtorch/all_reduce.h"
#include "training/libtorch/learner.h"
#include "training/mode_selection/scoring/selector.h"
#include "training/mode_selection/stragglers/predictor.h"
#include "training/trainer/transport/connection.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// What a run needs of libtorch, so that tests can do without.
struct TrainPorts {
  std::function<Result<std::unique_ptr<Learner>>(const LearnerOptions&)> make_learner{};
  std::function<Result<std::unique_ptr<MeetingPlace>>(const std::string&)> open_meeting_place{};
  std::function<Result<std::unique_ptr<AllReduceGroup>>(const AllReduceOptions&)> join_all_reduce{};
  std::function<std::string(const std::string& device)> gpu_name{};
  std::function<std::vector<std::string>()> models{}, data{};
  // Learned from logged series and kept in a file; and read from there.
  struct FitSettings {
    std::string file{};
    double held_out = 0.3;
  };
  std::function<Result<std::unique_ptr<IterationPredictor>>(std::span<const IterationHistory>,
                                                            const FitSettings&)>
      fit_predictor{};
  std::function<Result<std::unique_ptr<IterationPredictor>>(const std::string&)> load_predictor{};
  std::function<std::unique_ptr<ModeRegression>()> make_selector{};  // none: only the heuristic
};

// How a process finds its run. It is read from standard input, where no other process can see it.
struct PartStart {
  PartRole role{};
  std::int32_t id = -1;
  std::string host{};
  std::uint16_t port = 0;
  RunToken token{};
  std::string listen = "127.0.0.1";
  std::string folder{};    // of the run; empty: the head has started the part, which ends with it
  std::int64_t epoch = 0;  // of the head, if the run has a lease
  double cores = 0;        // of a worker: its CPU quota from its first task on; 0: none
  // A head that has gone is not waited for if there will be another one.
  int attempts() const { return folder.empty() ? 50 : 1; }
  std::shared_ptr<bool> reached{};  // set once the head is reached: it then knows how the part ends
};
std::string part_start_text(const PartStart& start);
Result<PartStart> parse_part_start(const std::string& text);

// A process of a run other than its head: its loop, and its line to the head. It ends when the head
// says so, or is gone.
class Pulse;

class Part {
 public:
  using OnFrame = std::function<void(MessageFrame&)>;

  static Result<std::unique_ptr<Part>> connect(const PartStart& start, OnFrame on_frame);
  ~Part();

  boost::asio::io_context io{1};
  std::shared_ptr<Transport> transport{std::make_shared<Transport>()};
  std::shared_ptr<Connection> head{};
  PartStart start{};
  bool over = false;
  Status end{};

  // What every part does the same way; false: something else.
  bool common(MessageFrame& frame);
  void limit(FrameLimits limits);  // of what the head may send from now on
  void fail(const Error& error);   // reports it to the head, and ends
  void run();                      // until it is over
  void start_pulse();              // once the part has its number

 private:
  Connection::Handlers handlers();
  void watch_epoch();  // leaves a head whose epoch is over
  OnFrame on_frame_{};
  std::unique_ptr<Pulse> pulse_{};
  boost::asio::steady_timer epoch_timer_{io};
};

// The processes. Each returns when it is over.
Status run_shard(const PartStart& start);
Status run_worker(const PartStart& start, const TrainPorts& ports);
Status run_evaluator(const PartStart& start, const TrainPorts& ports);

// `part`: the process that standard input asks for.
Status run_part(const TrainPorts& ports);

// A body that is not what its kind says is a fault of our own processes; it ends the connection.
template <class M>
bool take(Connection& connection, const MessageFrame& frame, M& message) {
  auto read = read_fields<M>(frame.body);
  if (!read.ok()) {
    connection.close(read.error());
    return false;
  }
  message = std::move(read).value();
  return true;
}

}  // namespace orrery
