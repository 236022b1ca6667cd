#pragma once

#include <atomic>
#include <list>
#include <string>
#include <thread>

namespace orrery {

// A wire between two processes that can be cut: it takes connections on a port of this machine and
// passes on what comes to another. While a way is cut, its bytes wait, as do new connections'.
class Relay {
 public:
  explicit Relay(const std::string& target);  // 127.0.0.1:PORT
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  void cut(bool to_target, bool from_target);
  void mend() { cut(false, false); }

 private:
  struct Pair {
    int from = -1;  // the connection that was accepted
    int to = -1;
  };

  void run();
  void accept_one();
  bool pass(const Pair& pair) const;

  int target_port_ = 0;
  int port_ = 0;
  int listener_ = -1;
  std::atomic<bool> cut_to_{false};
  std::atomic<bool> cut_from_{false};
  std::atomic<bool> ends_{false};
  std::list<Pair> pairs_;
  std::thread thread_;
};

}  // namespace orrery
