#include "cloud/local_servers/local_servers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/test_folder.h"
#include "cloud/provider/testing/provider_conformance.h"
#include "live/job_runner/process_table.h"

namespace orrery {
namespace {

using Kind = ServerEvent::Kind;
using std::chrono::minutes;
using std::chrono::seconds;

Offer spot_offer() {
  return {.zone = "local-a",
          .machine_type = "process",
          .offer_class = OfferClass::Spot,
          .price_usd_per_hour = 1,
          .notice = seconds(30)};
}

ServerWorld small_world() {
  ServerWorld world;
  world.offers = {spot_offer()};
  world.start_up = [](const Offer&, Random&) { return Duration(seconds(40)); };
  return world;
}

// Its clock moves when the test moves it; its processes are real.
class Subject final : public ProviderSubject {
 public:
  Subject() { open(small_world()); }
  Provider& provider() override { return *provider_; }
  void advance(Duration time) override { *clock_ += time; }
  std::optional<Offer> offer(OfferClass offer_class) override {
    if (offer_class != OfferClass::Spot) return std::nullopt;
    return spot_offer();
  }
  Duration settling() const override { return minutes(2); }
  bool limit(std::size_t servers) override {
    ServerWorld world = small_world();
    world.capacity["local-a"] = static_cast<int>(servers);
    open(world);
    return true;
  }
  bool revoke(const std::string& server) override { return provider_->revoke(server).ok(); }

  const std::string& folder() const { return folder_.path(); }

 private:
  void open(const ServerWorld& world) {
    auto opened = LocalServers::open({.folder = folder_.path(),
                                      .world = world,
                                      .clock = [clock = clock_] { return *clock; },
                                      .environment = {"PATH=/usr/bin:/bin"}});
    EXPECT_TRUE(opened.ok());
    provider_ = std::move(opened).value();
  }

  const TestFolder folder_;
  const std::shared_ptr<Time> clock_ = std::make_shared<Time>(seconds(1'600'000'000));
  std::unique_ptr<LocalServers> provider_;
};
INSTANTIATE_TYPED_TEST_SUITE_P(LocalServers, ProviderCreation, Subject);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalServers, ProviderEnds, Subject);

class LocalServersTest : public ::testing::Test {
 protected:
  LocalServersTest() { EXPECT_EQ(::mkfifo(pipe_.c_str(), 0600), 0); }

  // A server whose script writes a process number into the pipe, its own as a rule, and waits.
  pid_t start(const std::string& number = "$$") {
    ServerSpec spec = conformance_spec("j", 0, spot_offer());
    spec.startup = "trap '' TERM; echo " + number + " >" + pipe_ + "; exec sleep 1000";
    EXPECT_TRUE(subject_.provider().create_all({spec}, 1).ok());
    pass(minutes(1));
    return static_cast<pid_t>(std::stol(read_pipe()));
  }
  void pass(Duration time) {
    subject_.advance(time);
    EXPECT_TRUE(subject_.provider().list("j").ok());
  }
  std::string read_pipe() const {
    const auto text = read_file(pipe_);
    return text.ok() ? text.value() : "";
  }
  Server server() { return subject_.provider().list("j").value().at(0); }

  Subject subject_;
  const std::string pipe_ = subject_.folder() + "/pipe";
};

TEST_F(LocalServersTest, AServerRunsItsScriptAfterItsStartUp) {
  const pid_t script = start();
  EXPECT_NE(process_start(script), 0);
  EXPECT_EQ(server().address, "127.0.0.1");
}

TEST_F(LocalServersTest, ARevocationIsWrittenDownAndKillsAtItsDeadline) {
  const pid_t script = start();
  ASSERT_TRUE(subject_.revoke("j-worker-0"));
  const auto notice = read_file(subject_.folder() + "/j-worker-0.notice");
  ASSERT_TRUE(notice.ok());
  EXPECT_EQ(notice.value(), "1600000090.000\n");
  pass(seconds(29));
  EXPECT_NE(process_start(script), 0);
  pass(seconds(1));
  EXPECT_EQ(process_start(script), 0);
  EXPECT_EQ(server().end_reason, EndReason::Revoked);
}

TEST_F(LocalServersTest, AStopKillsAtOnce) {
  const pid_t script = start();
  ASSERT_TRUE(subject_.provider().stop("j-worker-0", EndReason::UserStop).ok());
  EXPECT_EQ(process_start(script), 0);
}

TEST_F(LocalServersTest, AServerWhoseKeeperIsKilledIsAHostError) {
  const auto keeper = start("$PPID");
  const Fd handle = open_process(keeper);
  ::kill(keeper, SIGKILL);
  pollfd ended{.fd = handle.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&ended, 1, 20'000), 1);
  pass(seconds(1));
  EXPECT_EQ(server().end_reason, EndReason::HostError);
}

TEST(FasterClock, RunsAtItsFactorAndNeverBack) {
  const auto clock = faster_clock(1000);
  const Time first = clock();
  const Time second = clock();
  EXPECT_LE(first, second);
}

}  // namespace
}  // namespace orrery
