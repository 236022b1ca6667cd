#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/files.h"

namespace orrery {

// Where answers are left for the thread that sends them. A call without an answer holds it, so it
// may outlive that thread; what comes then is dropped. Any thread may put().
class Mailbox {
 public:
  struct Letter {
    std::uint64_t to = 0;
    std::string frame{};
  };

  explicit Mailbox(Fd bell) : bell_(std::move(bell)) {}

  void put(std::uint64_t to, std::string frame);
  std::vector<Letter> take();
  void ring();
  void close();  // rings as well
  bool closed();

  int bell() const { return bell_.get(); }  // readable when there is something to take

 private:
  const Fd bell_;
  std::mutex mutex_;  // guards what follows
  std::vector<Letter> letters_;
  bool closed_ = false;
};

}  // namespace orrery
