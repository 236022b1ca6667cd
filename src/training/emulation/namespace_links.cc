#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/files.h"
#include "training/emulation/counter_file.h"
#include "training/emulation/link_limits.h"
#include "training/emulation/owner.h"
#include "training/emulation/tool.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBridge = "ob", kVeth = "ov";
constexpr int kMostServers = 250;

std::string bridge_name(std::string_view tag) { return fmt::format("{}{}", kBridge, tag); }
std::string veth_name(std::string_view tag, int server) {
  return fmt::format("{}{}{}", kVeth, tag, short_number(server));
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> routes() {  // (address, mask)
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  std::istringstream lines(read_word("/proc/net/route"));
  std::string line, word;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::uint32_t address = 0, mask = 0;
    fields >> word >> std::hex >> address;
    for (int i = 0; i < 5; ++i) fields >> word;
    if (fields >> mask) found.emplace_back(ntohl(address), ntohl(mask));
  }
  return found;
}

// Three numbers of a /24 within 198.18.0.0/15, which is reserved for measuring networks, that no
// route of this machine leads to. The process number decides where the search begins, so that two
// runs that start at once do not meet.
Result<std::string> free_network() {
  constexpr std::uint32_t kFirst = 198u << 24 | 18u << 16, kNetworks = 512, kMask = ~0u << 8;
  const auto taken = routes();
  for (std::uint32_t i = 0; i < kNetworks; ++i) {
    const std::uint32_t network =
        kFirst + (((static_cast<std::uint32_t>(::getpid()) + i) % kNetworks) << 8);
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const auto& route) {
      const std::uint32_t common = route.second & kMask;
      return common != 0 && (route.first & common) == (network & common);
    });
    if (free) {
      return fmt::format("{}.{}.{}", network >> 24, network >> 16 & 255, network >> 8 & 255);
    }
  }
  return Error{Code::ResourceExhausted, "no network of 198.18.0.0/15 is free on this machine"};
}

// What one end of a pair sends at most. The bucket holds what 10 ms bring, or a few packets, and
// what waits behind it is enough for the sender's window to live on.
std::string filter(const std::string& device, double bytes_per_s) {
  if (bytes_per_s <= 0) return fmt::format("qdisc replace dev {} root pfifo limit 1000\n", device);
  const auto burst = std::max<long long>(6400, std::llround(bytes_per_s / 100));
  const auto queue = std::max<long long>(65536, std::llround(bytes_per_s / 10)) + burst;
  return fmt::format("qdisc replace dev {} root tbf rate {}bit burst {} limit {}\n", device,
                     std::max<long long>(8, std::llround(bytes_per_s * 8)), burst, queue);
}

class NamespaceLinks final : public LinkLimits {
 public:
  NamespaceLinks(std::string tag, std::string network, int servers)
      : tag_(std::move(tag)), network_(std::move(network)), servers_(servers) {}
  ~NamespaceLinks() override {
    // A pair goes with the namespace that one end is in, unless a process is left in there.
    std::string commands;
    for (int i = 0; i < servers_; ++i) {
      commands += fmt::format("link del {}\nnetns del {}\n", veth_name(tag_, i), name(i));
    }
    commands += fmt::format("link del {}\n", bridge_name(tag_));
    static_cast<void>(run_tool({"ip", "-force", "-batch", "-"}, commands).ok());
  }

  Status make(const std::vector<double>& bytes_per_s) {
    const std::string bridge = bridge_name(tag_);
    std::string commands =
        fmt::format("link add {} type bridge\naddr add {}/24 dev {}\nlink set {} up\n", bridge,
                    outside_address(), bridge, bridge);
    for (int i = 0; i < servers_; ++i) {
      const std::string veth = veth_name(tag_, i);
      commands += fmt::format(
          "netns add {}\nlink add {} type veth peer name eth0 netns {}\n"
          "link set {} master {}\nlink set {} up\n",
          name(i), veth, name(i), veth, bridge, veth);
    }
    TRY_ASSIGN(std::string said, run_tool({"ip", "-batch", "-"}, commands));
    for (int i = 0; i < servers_; ++i) {
      TRY_ASSIGN(said,
                 run_tool({"ip", "-n", name(i), "-batch", "-"},
                          fmt::format("addr add {}/24 dev eth0\nlink set eth0 up\nlink set lo up\n",
                                      address(i))));
      if (const double rate = bytes_per_s[static_cast<std::size_t>(i)]; rate > 0) TRY(set(i, rate));
    }
    return {};
  }

  std::string means() const override { return "tbf"; }

  std::vector<std::string> inside(int server, std::vector<std::string> command) const override {
    const std::vector<std::string> enter = {"ip", "netns", "exec", name(server)};
    command.insert(command.begin(), enter.begin(), enter.end());
    return command;
  }

  std::string address(int server) const override {
    return fmt::format("{}.{}", network_, server + 1);
  }
  std::string outside_address() const override { return network_ + ".254"; }

  Status set(int server, double bytes_per_s) override {
    const auto tc = [](const std::vector<std::string>& argv, const std::string& line) -> Status {
      TRY_ASSIGN(const std::string said, run_tool(argv, line));
      return {};
    };
    TRY(tc({"tc", "-batch", "-"}, filter(veth_name(tag_, server), bytes_per_s)));
    return tc({"tc", "-n", name(server), "-batch", "-"}, filter("eth0", bytes_per_s));
  }

  double transport_bytes_per_s(int) const override { return 0; }

  Result<LinkBytes> use(int server) override {
    if (counters_.empty()) {
      for (int i = 0; i < servers_; ++i) {
        const std::string folder = "/sys/class/net/" + veth_name(tag_, i) + "/statistics/";
        counters_.push_back({CounterFile(folder + "tx_bytes"), CounterFile(folder + "rx_bytes")});
      }
    }
    // This end is ours: what it sends, the server gets.
    auto& [sent, received] = counters_[static_cast<std::size_t>(server)];
    TRY_ASSIGN(const double in, sent.number());
    TRY_ASSIGN(const double out, received.number());
    return LinkBytes{.in_bytes = in, .out_bytes = out};
  }

 private:
  std::string name(int server) const { return server_name(tag_, server); }

  std::string tag_, network_;
  int servers_;
  std::vector<std::pair<CounterFile, CounterFile>> counters_{};
};

// All traffic on the loopback is one; it is not counted by server.
class LoopbackLinks final : public LinkLimits {
 public:
  explicit LoopbackLinks(std::vector<double> bytes_per_s) : bytes_per_s_(std::move(bytes_per_s)) {}

  std::string means() const override { return bytes_per_s_.empty() ? "none" : "token-bucket"; }
  std::vector<std::string> inside(int, std::vector<std::string> command) const override {
    return command;
  }
  std::string address(int) const override { return "127.0.0.1"; }
  std::string outside_address() const override { return "127.0.0.1"; }
  Status set(int server, double bytes_per_s) override {
    if (bytes_per_s_.empty()) {
      return Error{Code::FailedPrecondition,
                   "servers have no link rate here, so it cannot be cut; give them one"};
    }
    bytes_per_s_[static_cast<std::size_t>(server)] = bytes_per_s;
    return {};
  }
  double transport_bytes_per_s(int server) const override {
    return bytes_per_s_.empty() ? 0 : bytes_per_s_[static_cast<std::size_t>(server)];
  }
  Result<LinkBytes> use(int) override { return LinkBytes{}; }

 private:
  std::vector<double> bytes_per_s_;
};

}  // namespace

Result<std::unique_ptr<LinkLimits>> make_namespace_links(const std::string& tag,
                                                         const std::vector<double>& bytes_per_s) {
  if (bytes_per_s.size() > kMostServers) {
    return invalid(
        fmt::format("{} servers are more than the {} that a bridge is made for here; "
                    "take the token bucket",
                    bytes_per_s.size(), kMostServers));
  }
  TRY_ASSIGN(const std::string network, free_network());
  const int servers = static_cast<int>(bytes_per_s.size());
  auto links = std::make_unique<NamespaceLinks>(tag, network, servers);
  TRY(links->make(bytes_per_s));
  return std::unique_ptr<LinkLimits>(std::move(links));
}

void remove_left_namespaces() {
  std::string commands;
  std::error_code failed;
  for (const auto& found : fs::directory_iterator("/sys/class/net", failed)) {
    const std::string name = found.path().filename();
    const bool bridge = name.starts_with(kBridge) && name.size() == 2 + kOwnerTagSize;
    const bool veth = name.starts_with(kVeth) && name.size() == 4 + kOwnerTagSize;
    if (!bridge && !veth) continue;
    const std::string tag = name.substr(2, kOwnerTagSize);
    if (is_owner_tag(tag) && !owner_runs(tag)) commands += "link del " + name + "\n";
  }
  for (const auto& found : fs::directory_iterator("/run/netns", failed)) {
    const std::string name = found.path().filename();
    const auto tag = tag_of_server_name(name);
    if (tag && !owner_runs(*tag)) commands += "netns del " + name + "\n";
  }
  if (commands.empty()) return;
  static_cast<void>(run_tool({"ip", "-force", "-batch", "-"}, commands).ok());
}

std::unique_ptr<LinkLimits> make_transport_links(std::vector<double> bytes_per_s) {
  return std::make_unique<LoopbackLinks>(std::move(bytes_per_s));
}

std::unique_ptr<LinkLimits> make_no_link_limits() {
  return std::make_unique<LoopbackLinks>(std::vector<double>{});
}

}  // namespace orrery
