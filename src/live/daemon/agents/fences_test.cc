#include "live/daemon/agents/fences.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr FenceOptions kOptions{.lease = seconds(15), .margin = seconds(5)};

Time at(Duration since) { return Time(since); }

// One node, and jobs on it: the first as the cluster's default has it, the others as they ask.
class FencesTest : public testing::Test {
 protected:
  void begin(Duration node_timeout) {
    apply(TermBegan{
        .term = 1, .policy = {.name = "fifo"}, .lease = seconds(15), .node_timeout = node_timeout});
    apply(NodeJoined{.offer = {.name = "n", .gpus = 8}, .instance = "i"});
    apply(NodeJoined{.offer = {.name = "m", .gpus = 8}, .instance = "j"});
  }
  void start(JobNumber job, Duration node_timeout, Duration grace) {
    apply(Submitted{.first = job,
                    .request = {.argv = {"train"}, .grace = grace, .node_timeout = node_timeout}});
    give(job, EventKind::Started, "n");
  }
  void give(JobNumber job, EventKind how, const std::string& node) {
    apply(Decided{.kind = how, .job = job, .devices = {{node, std::uint64_t{1} << job}}});
  }
  void lose() { apply(NodeTurned{.node = "n", .state = NodeState::Lost}); }
  void apply(const Entry& entry) {
    const Status applied = book_.apply(entry, at({}));
    ASSERT_TRUE(applied.ok()) << applied.error().message;
  }
  Fences::Verdict look(Duration seen, Duration now) const {
    return Fences(kOptions).look(book_, NodeId{0}, at(seen), at(now));
  }

  Book book_{SpecOptions{}};
};

TEST_F(FencesTest, ANodeIsLostAfterALeaseOfSilence) {
  EXPECT_EQ(Fences(kOptions).lost_at(at(seconds(100))), at(seconds(115)));
}

TEST_F(FencesTest, ALaunchIsOverAfterNodeTimeoutGraceMarginAndDrift) {
  begin(hours(10));
  start(1, {}, seconds(30));
  const Duration fence = seconds(100) + hours(10) + seconds(30) + seconds(5) + seconds(72);
  EXPECT_TRUE(look(seconds(100), fence - Duration(1)).over.empty());
  EXPECT_EQ(look(seconds(100), fence - Duration(1)).next, at(fence));
  EXPECT_EQ(look(seconds(100), fence).over, (std::vector<LaunchName>{{1, 1, 0}}));
  EXPECT_EQ(look(seconds(100), fence).next, kNever);
}

TEST_F(FencesTest, EachLaunchHasItsOwnFence) {
  begin(hours(10));
  start(1, {}, seconds(30));
  start(2, seconds(50), seconds(10));
  start(3, kNodeTimeoutMax, seconds(10));
  const auto verdict = look({}, seconds(70));
  EXPECT_EQ(verdict.over, (std::vector<LaunchName>{{2, 1, 0}}));
  EXPECT_EQ(look({}, hours(24 * 365)).over.size(), 2u) << "never is never";
  EXPECT_EQ(look({}, hours(24 * 365)).next, kNever);
}

TEST_F(FencesTest, ANodeTimeoutIsNoShorterThanTheLease) {
  begin(hours(10));
  start(1, seconds(1), seconds(10));
  EXPECT_TRUE(look({}, seconds(30) - Duration(1)).over.empty());
  EXPECT_EQ(look({}, seconds(31)).over.size(), 1u);
}

TEST_F(FencesTest, AnotherDefaultIsForLaunchesToCome) {
  begin(hours(10));
  start(1, {}, seconds(30));
  apply(TermBegan{
      .term = 2, .policy = {.name = "fifo"}, .lease = seconds(15), .node_timeout = seconds(60)});
  start(2, {}, seconds(30));
  EXPECT_EQ(look({}, hours(1)).over, (std::vector<LaunchName>{{2, 1, 0}}));
}

TEST_F(FencesTest, AJobThatLeftALostNodeWaitsForItsFence) {
  begin(hours(10));
  start(1, {}, seconds(30));
  start(2, {}, seconds(30));
  start(3, {}, seconds(30));
  give(2, EventKind::Moved, "m");
  apply(Decided{.kind = EventKind::Paused, .job = 3});
  EXPECT_TRUE(jobs_behind_lost_nodes(book_).empty()) << "its node answers";
  lose();
  EXPECT_EQ(jobs_behind_lost_nodes(book_), (std::vector{JobId{1}, JobId{2}}))
      << "the first job runs on where it is";
  apply(LaunchEnded{.launch = {2, 1, 0}, .end = {.kind = JobEnd::Kind::LeaseLost}});
  EXPECT_EQ(jobs_behind_lost_nodes(book_), (std::vector{JobId{2}}));
}

}  // namespace
}  // namespace orrery
