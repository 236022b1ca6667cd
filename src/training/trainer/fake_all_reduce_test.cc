#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "training/trainer/fake_learner.h"

namespace orrery {
namespace {

struct Join {
  char name[64] = {};
  std::int32_t rank = 0, size = 0;
};
struct Call {
  std::int32_t source = -1;  // -1: sum
  std::uint64_t count = 0;
};

bool put(int fd, const void* data, std::size_t bytes) {
  const char* at = static_cast<const char*>(data);
  for (ssize_t done = 0; bytes > 0; at += done, bytes -= static_cast<std::size_t>(done)) {
    done = send(fd, at, bytes, MSG_NOSIGNAL);
    if (done <= 0) return false;
  }
  return true;
}

bool get(int fd, void* data, std::size_t bytes) {
  return bytes == 0 || recv(fd, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

bool one_round(const std::vector<Fd>& members) {
  std::vector<float> result, values;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    Call call;
    if (!get(members[rank].get(), &call, sizeof call)) return false;
    values.resize(call.count);
    if (!get(members[rank].get(), values.data(), values.size() * sizeof(float))) return false;
    if (rank == 0) result.assign(values.size(), 0.0F);
    const bool adds = call.source < 0;
    if (!adds && call.source != static_cast<std::int32_t>(rank)) continue;
    if (!adds) result = values;
    for (std::size_t i = 0; adds && i < values.size(); ++i) result[i] += values[i];
  }
  for (const Fd& member : members) {
    if (!put(member.get(), result.data(), result.size() * sizeof(float))) return false;
  }
  return true;
}

// A group ends, and its members' connections with it, when one of them is gone.
void serve(const std::vector<Fd>& members) {
  const char go = 1;
  for (const Fd& member : members) put(member.get(), &go, 1);
  while (one_round(members)) {
  }
}

class FakeMeetingPlace final : public MeetingPlace {
 public:
  FakeMeetingPlace(Fd listener, std::uint16_t port)
      : listener_(std::move(listener)), port_(port), thread_([this] { accept_all(); }) {}
  ~FakeMeetingPlace() override {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port() const override { return port_; }
  bool sums_on_cpus() const override { return true; }

 private:
  void accept_all() {
    std::map<std::string, std::vector<Fd>> groups;
    for (;;) {
      Fd member(accept(listener_.get(), nullptr, nullptr));
      if (!member.ok()) return;
      Join join;
      if (!get(member.get(), &join, sizeof join) || join.rank >= join.size) continue;
      auto& group = groups[join.name];
      group.resize(static_cast<std::size_t>(join.size));
      group[static_cast<std::size_t>(join.rank)] = std::move(member);
      if (!std::ranges::all_of(group, [](const Fd& fd) { return fd.ok(); })) continue;
      std::thread(serve, std::move(group)).detach();
      groups.erase(join.name);
    }
  }

  Fd listener_;
  const std::uint16_t port_;
  std::thread thread_;
};

class FakeGroup final : public AllReduceGroup {
 public:
  explicit FakeGroup(Fd hub) : hub_(std::move(hub)) {}
  Status sum(std::span<float> values) override { return call(-1, values); }
  Status copy_from(int rank, std::span<float> values) override { return call(rank, values); }

 private:
  Status call(std::int32_t source, std::span<float> values) {
    if (const char* const pause = std::getenv("ORRERY_TEST_SUM_MS"); pause != nullptr) {
      std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(pause)));
    }
    const Call call{.source = source, .count = values.size()};
    if (put(hub_.get(), &call, sizeof call) &&
        put(hub_.get(), values.data(), values.size_bytes()) &&
        get(hub_.get(), values.data(), values.size_bytes())) {
      return {};
    }
    return Error{Code::Unavailable, "the group is broken"};
  }
  Fd hub_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Result<std::unique_ptr<MeetingPlace>> open_fake_meeting_place(const std::string&) {
  Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      listen(listener.get(), 64) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return system_error("listening", errno);
  }
  return std::unique_ptr<MeetingPlace>(
      std::make_unique<FakeMeetingPlace>(std::move(listener), ntohs(address.sin_port)));
}

Result<std::unique_ptr<AllReduceGroup>> join_fake_all_reduce(const AllReduceOptions& options) {
  Fd hub(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(options.port);
  const timeval patience{.tv_sec = static_cast<time_t>(seconds(options.patience)) + 1,
                         .tv_usec = 0};
  setsockopt(hub.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const int on = 1;
  setsockopt(hub.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Join join{.rank = options.rank, .size = options.size};
  const std::string name = options.name + (options.device == "cpu" ? "" : " on GPUs");
  std::strncpy(join.name, name.c_str(), sizeof join.name - 1);
  char go = 0;
  if (connect(hub.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      !put(hub.get(), &join, sizeof join) || !get(hub.get(), &go, 1)) {
    return Error{Code::Unavailable, "the others did not come"};
  }
  return std::unique_ptr<AllReduceGroup>(std::make_unique<FakeGroup>(std::move(hub)));
}

}  // namespace orrery
