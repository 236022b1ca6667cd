#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery {

struct ChildStart {
  std::vector<std::string> command{};
  std::string input{};  // what it finds on its standard input
  // Called with the child's number before it runs anything of its own.
  std::function<Status(pid_t)> before{};
};

// The processes that the head has started. They die with it, however it dies. Their ends are
// reported on the io_context's thread.
class Children {
 public:
  using OnEnd = std::function<void(pid_t, const std::string& how)>;

  Children(boost::asio::io_context& io, OnEnd on_end);
  ~Children();  // kills those that are left and waits for them

  Result<pid_t> start(const ChildStart& start);
  void kill(pid_t child);  // its end is reported as any other
  const std::set<pid_t>& running() const { return running_; }
  // Kills all of them and waits; their ends are not reported.
  void clear();

 private:
  void watch();
  void reap();

  boost::asio::signal_set ends_;
  OnEnd on_end_;
  std::set<pid_t> running_{};
};

// The program that runs now.
std::string own_program();

}  // namespace orrery
