#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "training/trainer/transport/part.h"

namespace orrery {

// A part's heartbeat: a thread that reports to the head five times a second that the
// process runs. It has a connection of its own, so it goes on while the part computes, sums or
// sends.
class Pulse {
 public:
  // `start` says where the head is; `id` is the part's number in the run.
  Pulse(const PartStart& start, std::int32_t id);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

 private:
  void beat(const PartStart& start, std::int32_t id);

  boost::asio::io_context io_{1};
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

}  // namespace orrery
