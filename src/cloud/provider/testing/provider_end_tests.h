#pragma once

#include <string>
#include <vector>

#include "cloud/provider/testing/provider_fixture.h"

namespace orrery {

template <class Subject>
class ProviderEnds : public ProviderFixture<Subject> {};

TYPED_TEST_SUITE_P(ProviderEnds);

TYPED_TEST_P(ProviderEnds, AStopGivesItsReason) {
  const auto asked = this->running(2);
  ASSERT_TRUE(this->provider().stop(asked[0].name, EndReason::Completed).ok());
  this->settle();
  EXPECT_EQ(this->mirror.at(asked[0].name).end_reason, EndReason::Completed);
  EXPECT_EQ(this->mirror.kinds(asked[0].name).back(), ServerEvent::Kind::Stopped);
  EXPECT_EQ(this->mirror.at(asked[1].name).state, ServerState::Running);
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 1U);
}

TYPED_TEST_P(ProviderEnds, AStopOfWhatHasEndedChangesNothing) {
  const auto asked = this->running(1);
  ASSERT_TRUE(this->provider().stop(asked[0].name, EndReason::Completed).ok());
  this->settle();
  const std::int64_t sequence = this->mirror.sequence();
  EXPECT_TRUE(this->provider().stop(asked[0].name, EndReason::ClusterStop).ok());
  this->settle();
  EXPECT_EQ(this->mirror.sequence(), sequence);
  EXPECT_EQ(this->mirror.at(asked[0].name).end_reason, EndReason::Completed);
}

TYPED_TEST_P(ProviderEnds, AStopOfAServerThatNeverWasIsNotFound) {
  const Status stopped = this->provider().stop("alpha-worker-77", EndReason::UserStop);
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, Code::NotFound) << stopped.error().message;
}

TYPED_TEST_P(ProviderEnds, AServerMayBeStoppedBeforeItRuns) {
  const auto asked = this->specs(1);
  this->mirror.expect(asked);
  ASSERT_TRUE(this->provider().create_all(asked, 1).ok());
  ASSERT_TRUE(this->provider().stop(asked[0].name, EndReason::ClusterStop).ok());
  this->settle();
  EXPECT_EQ(this->mirror.at(asked[0].name).end_reason, EndReason::ClusterStop);
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 0U);
}

TYPED_TEST_P(ProviderEnds, ARevocationEndsAServerAndNoStopChangesThat) {
  const auto asked = this->running(2);
  if (!this->subject.revoke(asked[0].name)) GTEST_SKIP() << "this provider revokes by itself";
  this->settle();
  const Server& revoked = this->mirror.at(asked[0].name);
  EXPECT_EQ(revoked.end_reason, EndReason::Revoked);
  EXPECT_LE(revoked.running, revoked.ended);
  EXPECT_EQ(this->mirror.at(asked[1].name).state, ServerState::Running);
  EXPECT_TRUE(this->provider().stop(asked[0].name, EndReason::Completed).ok());
  this->settle();
  EXPECT_EQ(this->mirror.at(asked[0].name).end_reason, EndReason::Revoked);
}

TYPED_TEST_P(ProviderEnds, AListIsOfOneJobOrOfAll) {
  ASSERT_TRUE(this->provider().create_all(this->specs(2, "alpha"), 2).ok());
  ASSERT_TRUE(this->provider().create_all(this->specs(1, "beta"), 1).ok());
  EXPECT_EQ(live_servers(this->provider(), "alpha"), 2U);
  EXPECT_EQ(live_servers(this->provider(), "beta"), 1U);
  EXPECT_EQ(live_servers(this->provider(), ""), 3U);
  EXPECT_EQ(live_servers(this->provider(), "alp"), 0U);
}

TYPED_TEST_P(ProviderEnds, EventsCanBeReadAgainFromAnyPlace) {
  this->running(3);
  const auto all = this->provider().events_after(0);
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_GE(all.value().size(), 6U);
  const auto rest = this->provider().events_after(4);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  ASSERT_EQ(rest.value().size() + 4, all.value().size());
  EXPECT_EQ(rest.value().front().sequence, 5);
  EXPECT_EQ(rest.value().front().server, all.value()[4].server);
}

TYPED_TEST_P(ProviderEnds, TheListSaysWhatTheEventsSay) {
  const auto asked = this->running(3);
  ASSERT_TRUE(this->provider().stop(asked[1].name, EndReason::UserStop).ok());
  this->settle();
  const auto listed = this->provider().list("alpha");
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  for (const Server& server : listed.value()) {
    const Server& from_events = this->mirror.at(server.spec.name);
    EXPECT_EQ(server.state, from_events.state) << server.spec.name;
    EXPECT_EQ(server.end_reason, from_events.end_reason) << server.spec.name;
    EXPECT_EQ(server.requested, from_events.requested) << server.spec.name;
    EXPECT_EQ(server.running, from_events.running) << server.spec.name;
  }
}

REGISTER_TYPED_TEST_SUITE_P(ProviderEnds, AStopGivesItsReason, AStopOfWhatHasEndedChangesNothing,
                            AStopOfAServerThatNeverWasIsNotFound, AServerMayBeStoppedBeforeItRuns,
                            ARevocationEndsAServerAndNoStopChangesThat, AListIsOfOneJobOrOfAll,
                            EventsCanBeReadAgainFromAnyPlace, TheListSaysWhatTheEventsSay);

}  // namespace orrery
