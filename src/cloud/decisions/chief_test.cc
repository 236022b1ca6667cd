#include "cloud/decisions/chief.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

using std::chrono::hours;

class Members {
 public:
  void add(ServerState state, Lifetime lifetime) {
    Server server;
    server.state = state;
    server.spec.index = static_cast<int>(servers_.size());
    server.requested = Time{};
    servers_.push_back(server);
    lifetimes_.push_back(std::move(lifetime));
  }

  std::optional<std::size_t> chosen() const {
    std::vector<ChiefCandidate> members;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      members.push_back({.server = &servers_[i], .lifetime = &lifetimes_[i]});
    }
    return choose_chief(members, Time(hours(2)), hours(1));
  }

 private:
  std::vector<Server> servers_;
  std::vector<Lifetime> lifetimes_;
};

TEST(Chief, IsTheMemberWithTheLowestHazard) {
  Members members;
  members.add(ServerState::Running, Lifetime::exponential(0.1));
  members.add(ServerState::Running, Lifetime::exponential(0));
  members.add(ServerState::Running, Lifetime::exponential(0));
  EXPECT_EQ(members.chosen(), 1U);
}

TEST(Chief, AMemberThatNothingRevokesGoesBeforeOthers) {
  const Server spot{.spec = {.index = 1}, .state = ServerState::Running, .requested = Time{}};
  const Server on_demand{.spec = {.index = 2}, .state = ServerState::Running, .requested = Time{}};
  const Lifetime lifetime = Lifetime::exponential(0.1);
  const std::vector<ChiefCandidate> members = {{.server = &spot, .lifetime = &lifetime},
                                               {.server = &on_demand, .lifetime = nullptr}};
  EXPECT_EQ(choose_chief(members, Time(hours(2)), hours(1)), 1U);
}

TEST(Chief, IsNoMemberThatIsGoneOrHasANotice) {
  Members members;
  members.add(ServerState::Ended, Lifetime::exponential(0));
  members.add(ServerState::Noticed, Lifetime::exponential(0));
  members.add(ServerState::Staging, Lifetime::exponential(0));
  members.add(ServerState::Running, Lifetime::exponential(1));
  EXPECT_EQ(members.chosen(), 3U);
}

TEST(Chief, MayHaveANoticeIfAllOthersAreGone) {
  Members members;
  EXPECT_EQ(members.chosen(), std::nullopt);
  members.add(ServerState::Ended, Lifetime::exponential(0));
  EXPECT_EQ(members.chosen(), std::nullopt);
  members.add(ServerState::Noticed, Lifetime::exponential(1));
  EXPECT_EQ(members.chosen(), 1U);
}

}  // namespace
}  // namespace orrery
