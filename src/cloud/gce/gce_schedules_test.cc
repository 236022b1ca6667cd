#include <gtest/gtest.h>

#include <cstdlib>

#include "cloud/gce/testing/gce_harness.h"

namespace orrery {
namespace {

// One random run: creations, stops, preemptions, and faults of every kind at
// any call. What must hold however it goes is checked at each step.
class Schedule {
 public:
  explicit Schedule(std::uint64_t seed) : random_(seed) {}

  void run() {
    for (int step = 0; step < 12; ++step) {
      make_faults();
      act();
      harness_.service.in(kFakeZone, [](FakeZone& zone) { EXPECT_LE(zone.most_of_one_name(), 1); });
      if (random_.uniform() < 0.7) harness_.service.clear_faults();
      harness_.advance(std::chrono::seconds(random_.between(0, 90)));
      read();
    }
    finish();
  }

 private:
  FakeFault a_fault() {
    static const std::vector<std::string> kPlaces = {
        "bulkInsert", "GET /compute/v1/projects/fake-project/zones",
        "DELETE",     "operations/",
        "/instances", "/token",
        "/"};
    const auto any = [&](std::int64_t n) { return random_.between(0, n - 1); };
    FakeFault fault;
    fault.on = kPlaces[static_cast<std::size_t>(any(static_cast<std::int64_t>(kPlaces.size())))];
    fault.times = static_cast<int>(random_.between(1, 9));
    switch (any(8)) {
      case 0:
        fault.kind = FakeFault::Kind::LoseReply;
        break;
      case 1:
        fault.kind = FakeFault::Kind::CutReply;
        break;
      case 2:
        fault.kind = FakeFault::Kind::Unheard;
        break;
      case 3:
        fault.status = 200;
        fault.body = "<html>busy</html>";
        break;
      case 4:
        fault.status = 403;
        fault.body = R"({"error":{"errors":[{"reason":"rateLimitExceeded"}]}})";
        break;
      default:
        fault.status =
            std::vector{429, 500, 502, 503, 400, 401, 404}[static_cast<std::size_t>(any(7))];
        break;
    }
    // A 404 to a question after one instance is an answer, and a wrong one.
    if (fault.status == 404 && fault.kind == FakeFault::Kind::Answer) fault.on = "bulkInsert";
    return fault;
  }

  void make_faults() {
    for (int i = 0; i < 3; ++i) {
      if (random_.uniform() < 0.5) harness_.service.inject(a_fault());
    }
    harness_.service.in(kFakeZone, [&](FakeZone& zone) {
      zone.capacity = random_.uniform() < 0.5 ? static_cast<int>(random_.between(0, 4)) : 99;
      zone.gpus_quota = random_.uniform() < 0.2 ? static_cast<int>(random_.between(0, 6)) : 99;
      zone.quota_by_status = random_.uniform() < 0.5;
      zone.operations_end = random_.uniform() < 0.95;
    });
    harness_.service.set_page_items(static_cast<std::size_t>(random_.between(1, 6)));
    if (random_.uniform() < 0.1) {
      harness_.service.tokens([](FakeTokens& tokens) {
        tokens.revoke_all();
        return 0;
      });
    }
  }

  void act() {
    const double kind = random_.uniform();
    if (kind < 0.5) {
      create();
    } else if (kind < 0.7 && !accepted_.empty()) {
      (void)harness_.gce->stop(any_server(), EndReason::ClusterStop);
    } else if (!accepted_.empty()) {
      (void)harness_.service.preempt(kFakeZone, any_server());
    }
  }

  std::string any_server() {
    return accepted_[static_cast<std::size_t>(
        random_.between(0, static_cast<std::int64_t>(accepted_.size()) - 1))];
  }

  void create() {
    const std::string job = "job-" + std::to_string(++jobs_);
    std::vector<ServerSpec> asked;
    const auto count = random_.between(1, 5);
    for (int i = 0; i < count; ++i) {
      const bool far = random_.uniform() < 0.3;
      asked.push_back(
          conformance_spec(job, i, fake_offer(OfferClass::Spot, far ? kFarZone : kFakeZone)));
    }
    const auto min = static_cast<std::size_t>(random_.between(0, count));
    auto made = harness_.gce->create_all(asked, min);
    if (random_.uniform() < 0.3) {
      const auto again = harness_.gce->create_all(asked, min);
      if (made.ok() && again.ok()) {
        EXPECT_EQ(again.value().size(), made.value().size());
      }
      if (!made.ok() && again.ok()) made = again;
    }
    if (!made.ok()) return;
    EXPECT_GE(made.value().size(), min);
    for (const Server& server : made.value()) {
      mirror_.expect({server.spec});
      accepted_.push_back(server.spec.name);
    }
  }

  // Reads what can be read; a service that fails is no fault of the provider.
  void read() {
    if (harness_.gce->events_after(mirror_.sequence()).ok()) {
      harness_.service.clear_faults();
      mirror_.read(*harness_.gce);
    }
  }

  void finish() {
    harness_.service.clear_faults();
    harness_.service.in(kFakeZone, [](FakeZone& zone) { zone.operations_end = true; });
    for (int i = 0; i < 4; ++i) {
      harness_.advance(std::chrono::seconds(60));
      mirror_.read(*harness_.gce);
    }
    std::size_t live = 0;
    for (const std::string& name : accepted_) live += has_ended(mirror_.at(name)) ? 0 : 1;
    EXPECT_EQ(harness_.service.live_instances(), live) << "servers that are not accounted for";
    EXPECT_EQ(live_servers(*harness_.gce, ""), live);
    for (const std::string& name : accepted_) {
      EXPECT_TRUE(harness_.gce->stop(name, EndReason::ClusterStop).ok());
    }
    for (int i = 0; i < 2; ++i) {
      harness_.advance(std::chrono::seconds(60));
      mirror_.read(*harness_.gce);
    }
    EXPECT_EQ(harness_.service.live_instances(), 0U);
  }

  Random random_;
  GceHarness harness_;
  EventMirror mirror_;
  std::vector<std::string> accepted_;
  int jobs_ = 0;
};

TEST(GceSchedules, NoFaultLeavesAServerThatIsNotAccountedFor) {
  const char* const wanted = std::getenv("ORRERY_GCE_SEEDS");
  const int seeds = wanted == nullptr ? 25 : std::atoi(wanted);
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Schedule(static_cast<std::uint64_t>(seed)).run();
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace orrery
