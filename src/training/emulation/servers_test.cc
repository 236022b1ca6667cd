#include "training/emulation/servers.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "training/emulation/owner.h"
#include "training/emulation/test_processes.h"

namespace orrery {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class CpuMeans : public testing::TestWithParam<const char*> {
 protected:
  // Nothing where this machine does not allow it.
  std::unique_ptr<Servers> servers(std::vector<EmulatedSize> sizes) {
    auto made = make_servers({.sizes = std::move(sizes), .cpu = GetParam(), .link = "none"});
    if (made.ok()) return std::move(made).value();
    why_ = made.error().message;
    return nullptr;
  }
  std::string why_{};
};

TEST_P(CpuMeans, BusyProcessesGetTheirShares) {
  auto servers = this->servers({{.cores = 0.2}, {.cores = 0.2}});
  if (!servers) GTEST_SKIP() << GetParam() << " cannot be used here: " << why_;
  ASSERT_EQ(servers->cpu_means(), GetParam());
  const Child fast(spin), slow(spin);
  ASSERT_TRUE(servers->add(0, fast.pid()).ok());
  ASSERT_TRUE(servers->add(1, slow.pid()).ok());
  ASSERT_TRUE(servers->set_share(1, ServerResource::Cpu, 0.25).ok());
  const auto watch = watch_load(*servers, 0.4);
  const ServerUse fast_before = servers->use(0).value(), slow_before = servers->use(1).value();
  const auto start = Clock::now();
  let_pass(2);
  const ServerUse fast_after = servers->use(0).value(), slow_after = servers->use(1).value();
  const double passed = seconds_since(start);
  watch->sample();
  const double fast_share = (fast_after.cpu_s - fast_before.cpu_s) / passed;
  const double slow_share = (slow_after.cpu_s - slow_before.cpu_s) / passed;
  EXPECT_LT(fast_share, 0.24);
  EXPECT_LT(slow_share, 0.06);
  const MachineLoad load = watch->load();
  if ((fast_share < 0.16 || slow_share < 0.04) && !load.trusted) {
    GTEST_SKIP() << "the machine is too busy to measure: " << load.why;
  }
  EXPECT_GT(fast_share, 0.16);
  EXPECT_GT(slow_share, 0.04);
  EXPECT_GT(fast_after.throttled_s, fast_before.throttled_s);
  EXPECT_GT(slow_after.throttled_s, slow_before.throttled_s);
}

TEST_P(CpuMeans, AProcessThatStillRunsIsFreeAgainInTheEnd) {
  auto servers = this->servers({{.cores = 0.01}});
  if (!servers) GTEST_SKIP() << GetParam() << " cannot be used here: " << why_;
  const Child child(spin);
  const std::string cgroups = read_word("/proc/" + std::to_string(child.pid()) + "/cgroup");
  ASSERT_TRUE(servers->add(0, child.pid()).ok());
  EXPECT_TRUE(becomes_true([&] { return servers->use(0).value().throttled_s > 0; }));
  servers.reset();
  EXPECT_NE(state_of(child.pid()), 'T');
  EXPECT_EQ(read_word("/proc/" + std::to_string(child.pid()) + "/cgroup"), cgroups);
}

TEST_P(CpuMeans, AKilledOwnersRemainsAreRemovedByTheNextRun) {
  if (!servers({{.cores = 0.2}})) GTEST_SKIP() << GetParam() << " cannot be used here: " << why_;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Child owner([&] {
    auto made = servers({{.cores = 0.01}});
    const pid_t orphan = ::fork();
    if (orphan == 0) spin();
    bool there = made && made->add(0, orphan).ok() &&
                 becomes_true([&] { return made->use(0).value().throttled_s > 0; });
    const pid_t reported = there ? orphan : -1;
    there &= ::write(pipe[1], &reported, sizeof reported) == sizeof reported;
    ::pause();
  });
  pid_t orphan = 0;
  ASSERT_EQ(::read(pipe[0], &orphan, sizeof orphan), static_cast<ssize_t>(sizeof orphan));
  ASSERT_GT(orphan, 0);
  owner.kill();
  ASSERT_NE(state_of(orphan), '-') << "it outlives its owner";
  ASSERT_TRUE(servers({{.cores = 0.2}}));
  EXPECT_TRUE(becomes_true([&] { return state_of(orphan) == '-' || state_of(orphan) == 'Z'; }));
  if (HasFailure()) ::kill(orphan, SIGKILL);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

INSTANTIATE_TEST_SUITE_P(All, CpuMeans, testing::Values("cgroup-v1", "cgroup-v2", "duty-cycle"),
                         [](const auto& means) {
                           std::string name = means.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

class Tbf : public testing::Test {
 protected:
  std::unique_ptr<Servers> servers(std::vector<EmulatedSize> sizes) {
    auto made = make_servers({.sizes = std::move(sizes), .cpu = "none", .link = "tbf"});
    if (made.ok()) return std::move(made).value();
    why_ = made.error().message;
    return nullptr;
  }

  // Bytes a second that a process on server 0 gets through to one outside.
  static double rate_out(const Servers& servers, int bytes) {
    const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, servers.outside_address().c_str(), &address.sin_addr);
    socklen_t size = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
    const std::vector<std::string> command = servers.inside(
        0, {"bash", "-c",
            "head -c " + std::to_string(bytes) + " /dev/zero > /dev/tcp/" +
                servers.outside_address() + "/" + std::to_string(ntohs(address.sin_port))});
    const Child sender([&] {
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      ::execvp(words[0], words.data());
    });
    const Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::vector<char> buffer(1 << 16);
    const auto start = Clock::now();
    double got = 0;
    for (ssize_t n = 1; n > 0; got += static_cast<double>(n)) {
      n = ::read(connection.get(), buffer.data(), buffer.size());
    }
    EXPECT_EQ(got, bytes);
    return got / seconds_since(start);
  }

  std::string why_{};
};

TEST_F(Tbf, ALinkCarriesWhatItShouldAndWhatItIsCutTo) {
  auto servers = this->servers({{.bytes_per_s = 1e6}, {.bytes_per_s = 1e6}});
  if (!servers) GTEST_SKIP() << "links cannot be made here: " << why_;
  EXPECT_NE(servers->address(0), servers->address(1));
  EXPECT_NEAR(rate_out(*servers, 1'000'000), 1e6, 0.2e6);
  ASSERT_TRUE(servers->set_share(0, ServerResource::Bandwidth, 0.25).ok());
  EXPECT_NEAR(rate_out(*servers, 300'000), 0.25e6, 0.05e6);
  const ServerUse used = servers->use(0).value(), idle = servers->use(1).value();
  EXPECT_GT(used.out_bytes, 1.3e6);
  EXPECT_LT(used.out_bytes, 1.6e6);
  EXPECT_LT(idle.out_bytes, 1e5);
}

// The interfaces of one owner: all of its tags begin alike.
std::size_t interfaces_of(const std::string& tag) {
  const std::filesystem::directory_iterator found("/sys/class/net");
  return static_cast<std::size_t>(std::count_if(begin(found), end(found), [&](const auto& entry) {
    return entry.path().filename().string().substr(2, tag.size()) == tag;
  }));
}

TEST_F(Tbf, NothingIsLeftOfAKilledRunOnceTheNextBegins) {
  if (!servers({{.bytes_per_s = 1e6}})) GTEST_SKIP() << "links cannot be made here: " << why_;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Child owner([&] {
    const auto made = servers({{.bytes_per_s = 1e6}, {.bytes_per_s = 0}});
    const std::string tag = made ? new_owner_tag() : "";
    if (::write(pipe[1], tag.data(), tag.size()) >= 0) ::pause();
  });
  std::string tag(kOwnerTagSize, '-');
  ASSERT_EQ(::read(pipe[0], tag.data(), tag.size()), static_cast<ssize_t>(tag.size()));
  tag.pop_back();  // the count
  EXPECT_EQ(interfaces_of(tag), 3u) << "a bridge and two pairs";
  owner.kill();
  ASSERT_TRUE(servers({{.bytes_per_s = 1e6}}));
  EXPECT_EQ(interfaces_of(tag), 0u);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(Servers, TheTransportKeepsToTheRateWhereNamespacesAreNot) {
  const auto servers = make_servers({.sizes = {{.bytes_per_s = 8e6}, {.bytes_per_s = 0}},
                                     .cpu = "none",
                                     .link = "token-bucket"})
                           .value();
  EXPECT_EQ(servers->link_means(), "token-bucket");
  EXPECT_EQ(servers->inside(0, {"a", "b"}), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(servers->transport_bytes_per_s(0), 8e6);
  ASSERT_TRUE(servers->set_share(0, ServerResource::Bandwidth, 0.1).ok());
  EXPECT_EQ(servers->transport_bytes_per_s(0), 8e5);
  EXPECT_TRUE(servers->set_share(1, ServerResource::Bandwidth, 1).ok());
  EXPECT_NE(
      servers->set_share(1, ServerResource::Bandwidth, 0.1).error().message.find("give its link"),
      std::string::npos);
  EXPECT_FALSE(servers->set_share(1, ServerResource::Cpu, 0.1).ok());
}

TEST(Servers, AShareIsOfTheNewSizeWhenTheSizeChanges) {
  const auto servers = make_servers({.sizes = {{.cores = 0.4, .bytes_per_s = 8e6}, {}},
                                     .cpu = "none",
                                     .link = "token-bucket"})
                           .value();
  ASSERT_TRUE(servers->set_share(0, ServerResource::Bandwidth, 0.25).ok());
  ASSERT_TRUE(servers->set_size(0, {.cores = 0.2, .bytes_per_s = 4e6}).ok());
  EXPECT_EQ(servers->size(0).cores, 0.2);
  EXPECT_EQ(servers->transport_bytes_per_s(0), 1e6);
  ASSERT_TRUE(servers->set_share(0, ServerResource::Bandwidth, 1).ok());
  EXPECT_EQ(servers->transport_bytes_per_s(0), 4e6);
  ASSERT_TRUE(servers->set_size(1, {.cores = 0.2, .bytes_per_s = 4e6}).ok());
  EXPECT_EQ(servers->transport_bytes_per_s(1), 0) << "it had no rate";
  EXPECT_FALSE(servers->set_size(0, {.cores = 0}).ok());
  EXPECT_EQ(servers->size(0).cores, 0.2) << "what is refused changes nothing";
}

TEST(Servers, WithoutAnyRateThereIsNothingToLimit) {
  const auto servers = make_servers({.sizes = {{}}, .cpu = "none"}).value();
  EXPECT_EQ(servers->link_means(), "none");
  EXPECT_EQ(servers->transport_bytes_per_s(0), 0);
}

TEST(Servers, WhatCannotBeIsRefusedWithAdvice) {
  const auto refused = [](const ServersOptions& options) {
    const auto made = make_servers(options);
    return made.ok() ? std::string("made") : made.error().message;
  };
  EXPECT_NE(refused({.sizes = {{}}, .cpu = "cgroup"}).find("did you mean 'cgroup-v1'?"),
            std::string::npos);
  EXPECT_NE(refused({.sizes = {{}}, .link = "tbff"}).find("did you mean 'tbf'?"),
            std::string::npos);
  EXPECT_NE(refused({}).find("at least 1"), std::string::npos);
  EXPECT_NE(refused({.sizes = {{.cores = 0}}}).find("0.001 to 1024"), std::string::npos);
  EXPECT_NE(refused({.sizes = {{.bytes_per_s = -1}}}).find("no link rate"), std::string::npos);
  EXPECT_NE(refused({.sizes = {{}}, .cgroup = "/not/there"}).find("is no cgroup"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery
