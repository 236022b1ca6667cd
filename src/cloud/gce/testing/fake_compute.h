#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/gce/testing/fake_accounts.h"
#include "cloud/gce/testing/fake_clock.h"
#include "cloud/gce/testing/fake_zones.h"

namespace orrery {

// A fault of the service or of the network, for the next calls whose "METHOD PATH" contains `on`.
struct FakeFault {
  enum class Kind {
    Answer,     // this status and body instead of an effect
    LoseReply,  // the effect, and then the connection closes
    CutReply,   // the effect, and half of the answer
    Unheard,    // the connection closes without an effect
  };
  std::string on{};
  Kind kind = Kind::Answer;
  int times = 1;
  int status = 503;
  std::string body{};
  std::string content_type = "application/json";
  std::string retry_after{};
};

struct FakeReply {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  std::string retry_after{};
  bool lost = false;
};

// Compute Engine in memory, at a port of the loopback address: instances and operations of zones,
// images, the token endpoint and the metadata server. It refuses what the service refuses, and more
// strictly: unknown fields are errors. Time is that of `clock`.
class FakeCompute {
 public:
  explicit FakeCompute(FakeGceClock& clock);
  ~FakeCompute();
  FakeCompute(const FakeCompute&) = delete;
  FakeCompute& operator=(const FakeCompute&) = delete;

  std::string url() const;
  std::string token_url() const { return url() + "/token"; }

  // Everything below is safe while the server serves.
  void inject(FakeFault fault);
  void clear_faults();
  std::size_t faults_left();
  // Runs `change` on a zone whose time is up to date. A zone exists from its first use here.
  template <class Change>
  auto in(const std::string& zone, Change change) {
    const std::lock_guard lock(mutex_);
    FakeZone& state = zones_[zone];
    state.move_to(clock_.true_time());
    return change(state);
  }
  bool preempt(const std::string& zone, const std::string& name);
  // Instances of all zones that are not on their way out.
  std::size_t live_instances();
  std::vector<std::string> requests();  // "METHOD PATH" of every call
  template <class Change>
  auto tokens(Change change) {
    const std::lock_guard lock(mutex_);
    return change(tokens_);
  }
  // At most this number of items in a page, whatever the caller wants.
  void set_page_items(std::size_t items) { page_items_ = items; }
  void set_padding(std::size_t bytes) { padding_ = bytes; }  // added to each list

 private:
  struct Web;
  struct Route;
  struct Request {
    std::string method{};
    std::string path{};
    std::map<std::string, std::string> query{};
    std::string token{};
    std::string flavor{};
    std::string body{};
  };

  FakeReply serve(const Request& request);
  FakeReply route(const Request& request);
  FakeReply in_zone(const Request& request, const std::string& zone, const std::string& rest);
  FakeReply bulk_insert(const Request& request, const std::string& zone, FakeZone& state);
  FakeReply change(const Request& request, const std::string& zone, FakeZone& state,
                   const std::string& rest);
  FakeReply list(const Request& request, const std::string& zone, FakeZone& state, bool operations);

  FakeGceClock& clock_;
  std::mutex mutex_;
  std::map<std::string, FakeZone> zones_;
  FakeTokens tokens_;
  std::vector<FakeFault> faults_;
  std::map<std::string, std::pair<std::string, std::string>> request_ids_;  // zone and operation
  std::vector<std::string> requests_;
  std::size_t page_items_ = 500;
  std::size_t padding_ = 0;
  std::unique_ptr<Web> web_;
};

}  // namespace orrery
