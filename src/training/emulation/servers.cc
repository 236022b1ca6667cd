#include "training/emulation/servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/nearest_word.h"
#include "training/emulation/cpu_limits.h"
#include "training/emulation/link_limits.h"
#include "training/emulation/owner.h"

namespace orrery {
namespace {

Status check_size(const EmulatedSize& size) {
  if (!(size.cores >= 0.001 && size.cores <= 1024)) {
    return invalid(
        fmt::format("a server of {} cores cannot be made; write 0.001 to 1024, 0.2 for "
                    "a fifth of a core",
                    size.cores));
  }
  if (!(size.bytes_per_s >= 0 && std::isfinite(size.bytes_per_s))) {
    return invalid(
        fmt::format("{} is no link rate; write bytes a second, 0 for no limit", size.bytes_per_s));
  }
  return {};
}

class EmulatedServers final : public Servers {
 public:
  EmulatedServers(std::vector<EmulatedSize> sizes, std::unique_ptr<CpuLimits> cpu,
                  std::unique_ptr<LinkLimits> link)
      : sizes_(std::move(sizes)),
        shares_(sizes_.size()),
        cpu_(std::move(cpu)),
        link_(std::move(link)) {}

  int count() const override { return static_cast<int>(sizes_.size()); }
  const EmulatedSize& size(int server) const override {
    INVARIANT(server >= 0 && server < count(), "a server that is not there");
    return sizes_[static_cast<std::size_t>(server)];
  }
  std::string cpu_means() const override { return cpu_->means(); }
  std::string link_means() const override { return link_->means(); }

  Status add(int server, pid_t pid) override {
    static_cast<void>(size(server));
    return cpu_->add(server, pid);
  }
  std::vector<std::string> inside(int server, std::vector<std::string> command) const override {
    return link_->inside(server, std::move(command));
  }
  std::string address(int server) const override { return link_->address(server); }
  std::string outside_address() const override { return link_->outside_address(); }

  Status set_size(int server, const EmulatedSize& wanted) override {
    const EmulatedSize before = size(server);
    TRY(check_size(wanted));
    EmulatedSize& whole = sizes_[static_cast<std::size_t>(server)];
    const Shares& shares = shares_[static_cast<std::size_t>(server)];
    whole.cores = wanted.cores;
    if (wanted.cores != before.cores && cpu_means() != "none") {
      TRY(cpu_->set(server, wanted.cores * shares.cpu));
    }
    const bool limited = before.bytes_per_s > 0 && wanted.bytes_per_s > 0;
    if (!limited || wanted.bytes_per_s == before.bytes_per_s) return {};
    whole.bytes_per_s = wanted.bytes_per_s;
    if (link_means() == "none") return {};
    return link_->set(server, wanted.bytes_per_s * shares.link);
  }
  Status set_share(int server, ServerResource resource, double share) override {
    const EmulatedSize& whole = size(server);
    INVARIANT(share > 0, "a share of nothing");
    Shares& shares = shares_[static_cast<std::size_t>(server)];
    if (resource == ServerResource::Cpu) {
      shares.cpu = share;
      return cpu_->set(server, whole.cores * share);
    }
    if (share == 1 && whole.bytes_per_s == 0) return {};
    if (whole.bytes_per_s == 0) {
      return Error{
          Code::FailedPrecondition,
          fmt::format("server {} has no link rate that could be cut; give its link one", server)};
    }
    shares.link = share;
    return link_->set(server, whole.bytes_per_s * share);
  }
  double transport_bytes_per_s(int server) const override {
    return link_->transport_bytes_per_s(server);
  }
  Result<ServerUse> use(int server) const override {
    TRY_ASSIGN(const CpuUse cpu, cpu_->use(server));
    TRY_ASSIGN(const LinkBytes link, link_->use(server));
    return ServerUse{.cpu_s = cpu.cpu_s,
                     .throttled_s = cpu.throttled_s,
                     .in_bytes = link.in_bytes,
                     .out_bytes = link.out_bytes};
  }
  Result<double> starved_s(int server) const override { return cpu_->starved_s(server); }

 private:
  struct Shares {
    double cpu = 1, link = 1;
  };
  std::vector<EmulatedSize> sizes_;
  std::vector<Shares> shares_;
  std::unique_ptr<CpuLimits> cpu_;
  std::unique_ptr<LinkLimits> link_;
};

constexpr std::array<std::string_view, 5> kCpuMeans = {"auto", "cgroup-v1", "cgroup-v2",
                                                       "duty-cycle", "none"};
constexpr std::array<std::string_view, 4> kLinkMeans = {"auto", "tbf", "token-bucket", "none"};

Status check_means(std::string_view what, std::string_view means,
                   std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), means) != known.end()) return {};
  return invalid(fmt::format("'{}' is no means to limit {}; did you mean '{}'? There are {}", means,
                             what, nearest_word(means, known), fmt::join(known, ", ")));
}

std::string note_folder() {
  const char* const folder = std::getenv("XDG_RUNTIME_DIR");
  return folder && *folder ? folder : "/tmp";
}

Result<CgroupTree> cgroups_of(const ServersOptions& options) {
  TRY_ASSIGN(CgroupTree tree,
             options.cgroup.empty() ? find_cgroups() : open_cgroups(options.cgroup));
  const std::string means = fmt::format("cgroup-v{}", tree.version);
  if (options.cpu != "auto" && options.cpu != means) {
    return Error{Code::FailedPrecondition,
                 fmt::format("{} was asked for, and {} is {}", options.cpu, tree.cpu, means)};
  }
  return tree;
}

Result<std::unique_ptr<CpuLimits>> limit_cpu(const ServersOptions& options,
                                             const std::string& tag) {
  std::vector<double> cores;
  for (const EmulatedSize& size : options.sizes) cores.push_back(size.cores);
  remove_left_duty_cycles(note_folder());
  if (options.cpu == "none") return make_no_cpu_limits(static_cast<int>(cores.size()));
  if (options.cpu == "duty-cycle") return make_duty_cycle(note_folder(), tag, cores);
  auto tree = cgroups_of(options);
  if (tree.ok()) {
    remove_left_cgroups(tree.value());
    auto limits = make_cgroup_limits(tree.value(), tag, cores);
    if (limits.ok() || options.cpu != "auto") return limits;
  } else if (options.cpu != "auto" || !options.cgroup.empty()) {
    return std::move(tree).error();
  }
  return make_duty_cycle(note_folder(), tag, cores);
}

Result<std::unique_ptr<LinkLimits>> limit_links(const ServersOptions& options,
                                                const std::string& tag) {
  std::vector<double> rates;
  for (const EmulatedSize& size : options.sizes) rates.push_back(size.bytes_per_s);
  const bool any = std::any_of(rates.begin(), rates.end(), [](double rate) { return rate > 0; });
  remove_left_namespaces();
  if (options.link == "none" || (options.link == "auto" && !any)) return make_no_link_limits();
  if (options.link == "token-bucket") return make_transport_links(rates);
  auto links = make_namespace_links(tag, rates);
  if (links.ok() || options.link != "auto") return links;
  return make_transport_links(rates);
}

}  // namespace

Result<std::unique_ptr<Servers>> make_servers(const ServersOptions& options) {
  TRY(check_means("CPU", options.cpu, kCpuMeans));
  TRY(check_means("links", options.link, kLinkMeans));
  if (options.sizes.empty()) return invalid("there are no servers to be made; ask for at least 1");
  for (const EmulatedSize& size : options.sizes) TRY(check_size(size));
  const std::string tag = new_owner_tag();
  TRY_ASSIGN(auto cpu, limit_cpu(options, tag));
  TRY_ASSIGN(auto link, limit_links(options, tag));
  return std::unique_ptr<Servers>(
      std::make_unique<EmulatedServers>(options.sizes, std::move(cpu), std::move(link)));
}

}  // namespace orrery
