#include "base/connection_limits.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

using Use = OpenConnection::Use;

constexpr ConnectionLimits kLimits{.total = 6, .per_peer = 3, .reserved = 2};
constexpr std::uint64_t kRoot = 0;
constexpr std::uint64_t kBob = 7;
constexpr std::uint64_t kEve = 8;
constexpr std::uint64_t kAnn = 9;

OpenConnection one(std::uint64_t peer, Use use, std::int64_t since) {
  return {.peer = peer, .privileged = peer == kRoot, .use = use, .since = since};
}
std::vector<OpenConnection> full(Use use) {
  return {one(kBob, use, 3), one(kBob, use, 1), one(kBob, use, 2),
          one(kEve, use, 6), one(kEve, use, 4), one(kEve, use, 5)};
}
void expect(const ConnectionAdmission& got, bool admitted, std::optional<std::size_t> ends) {
  EXPECT_EQ(got.admitted, admitted);
  EXPECT_EQ(got.ends, ends);
}

TEST(ConnectionLimits, BelowThemAllAreTaken) {
  expect(admit({}, kBob, false, kLimits), true, {});
  const std::vector<OpenConnection> some{one(kBob, Use::Fresh, 1), one(kBob, Use::Fresh, 2)};
  expect(admit(some, kBob, false, kLimits), true, {});
}

TEST(ConnectionLimits, APeerAtItsLimitLosesItsOwnIdleOnesFirstAndThenItsParkedOnes) {
  const std::vector<OpenConnection> mixed{one(kEve, Use::Idle, 0), one(kBob, Use::Parked, 1),
                                          one(kBob, Use::Idle, 9), one(kBob, Use::Fresh, 0)};
  expect(admit(mixed, kBob, false, kLimits), true, 2);
  expect(admit(full(Use::Parked), kBob, false, kLimits), true, 1);
}

TEST(ConnectionLimits, WorkInProgressEndsForAPrivilegedPeerAlone) {
  expect(admit(full(Use::Fresh), kBob, false, kLimits), false, {});
  expect(admit(full(Use::Fresh), kAnn, false, kLimits), false, {});
  auto connections = full(Use::Fresh);
  connections.push_back(one(kRoot, Use::Fresh, 1));
  connections.push_back(one(kRoot, Use::Fresh, 2));
  expect(admit(connections, kRoot, true, kLimits), true, 1);
}

TEST(ConnectionLimits, AFullServerTakesAPlaceFromThePeerWithTheMost) {
  auto connections = full(Use::Parked);
  connections.pop_back();
  connections.push_back(one(kAnn, Use::Idle, 0));
  expect(admit(connections, kAnn, false, kLimits), true, 1);
}

TEST(ConnectionLimits, PrivilegedPeersHavePlacesOfTheirOwnAndKeepThem) {
  auto connections = full(Use::Fresh);
  expect(admit(connections, kRoot, true, kLimits), true, {});
  connections.push_back(one(kRoot, Use::Idle, 0));
  connections.push_back(one(kRoot, Use::Idle, 0));
  expect(admit(connections, kAnn, false, kLimits), false, {});
}

}  // namespace
}  // namespace orrery
