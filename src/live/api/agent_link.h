#pragma once

#include <functional>
#include <memory>

#include "live/api/agent_words.h"
#include "live/api/api.h"

namespace orrery {

// The scheduler's end of one agent's connection.
class AgentLink {
 public:
  virtual ~AgentLink() = default;
  // Never blocks. What cannot be sent is lost; orders that wait are replaced by newer ones.
  virtual void send(Orders orders) = 0;
  virtual void close() = 0;
};

// Where agents' connections end: the scheduler. May be called from any thread.
class AgentHost {
 public:
  virtual ~AgentHost() = default;
  // A connection whose other end has proved to be `caller`. All that comes over it is reported to
  // the answer's number, until gone() is called.
  virtual std::int64_t connected(const Caller& caller, std::shared_ptr<AgentLink> link) = 0;
  virtual void reported(std::int64_t connection, Report report) = 0;
  virtual void gone(std::int64_t connection) = 0;
};

// The agent's end. Never blocks; tries again by itself when the connection is lost.
class SchedulerLink {
 public:
  virtual ~SchedulerLink() = default;
  virtual void send(Report report) = 0;
};
using OnOrders = std::function<void(Orders)>;

}  // namespace orrery
