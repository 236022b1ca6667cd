#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "live/agent/job_socket.h"
#include "live/agent/test_jobs.h"
#include "live/job_runner/lease.h"

namespace orrery {

inline constexpr std::chrono::seconds kLongEnough{30};

// The agent's loop around its sockets, as far as a test needs it.
class TestPost {
 public:
  explicit TestPost(const std::string& directory) : sockets_(open(directory)) {}

  JobSockets& sockets() { return sockets_; }
  std::vector<JobWord>& words() { return words_; }

  // A launch with a socket, which is listened at.
  Launch listen(Launch launch) {
    auto path = sockets_.path(launch);
    EXPECT_TRUE(path.ok()) << (path.ok() ? "" : path.error().message);
    launch.socket = std::move(path).value();
    const Status status = sockets_.listen(launch);
    EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
    return launch;
  }

  // Takes in what comes until `holds` is true; false when that takes too long.
  bool until(const std::function<bool()>& holds) {
    const auto deadline = std::chrono::steady_clock::now() + kLongEnough;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      pollfd wait{.fd = sockets_.fd(), .events = POLLIN, .revents = 0};
      ::poll(&wait, 1, 20);
      sockets_.on_ready(boot_time(), words_);
    }
    return true;
  }
  // The last word of this kind, once there is one.
  const JobWord* last(JobWord::Kind kind, const std::string& launch) {
    const JobWord* found = nullptr;
    for (const JobWord& word : words_) {
      if (word.kind == kind && word.launch == launch) found = &word;
    }
    return found;
  }
  bool until_said(JobWord::Kind kind, const std::string& launch, std::int64_t least = 0) {
    return until([&] {
      const JobWord* const word = last(kind, launch);
      return word && word->iteration >= least;
    });
  }

 private:
  static JobSockets open(const std::string& directory) {
    auto sockets = JobSockets::open(directory);
    EXPECT_TRUE(sockets.ok()) << (sockets.ok() ? "" : sockets.error().message);
    return std::move(sockets).value();
  }

  JobSockets sockets_;
  std::vector<JobWord> words_{};
};

// A client that sends exactly what the test gives it.
class TestClient {
 public:
  explicit TestClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    connected_ =
        ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  int fd() const { return fd_.get(); }
  void close() { fd_.close(); }

  void say(const std::string& text) {
    EXPECT_EQ(::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // What has come so far.
  const std::string& heard() {
    char piece[4096];
    while (true) {
      const ssize_t size = ::recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT);
      if (size == 0 || (size < 0 && errno != EAGAIN)) closed_ = true;
      if (size <= 0) return heard_;
      heard_.append(piece, static_cast<std::size_t>(size));
    }
  }
  bool closed() { return heard(), closed_; }

 private:
  Fd fd_;
  bool connected_ = false;
  bool closed_ = false;
  std::string heard_{};
};

}  // namespace orrery
