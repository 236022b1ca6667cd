#include "cloud/provider_file/provider_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "base/toml_table.h"
#include "cloud/lifetimes/lifetime_table.h"
#include "cloud/market/spot_trace.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr auto kTopKeys = std::to_array<std::string_view>(
    {"prices", "cluster", "server", "command", "zones", "gpus", "classes", "servers_min",
     "servers_max", "idle", "budget_usd", "budget_usd_per_hour", "stop_time", "join_max", "pause",
     "local", "gce"});
constexpr auto kLocalKeys = std::to_array<std::string_view>(
    {"speed", "seed", "start_up", "lifetime_mean", "weibull_shape", "weibull_scale", "life_max",
     "capacity", "shocks_per_hour", "shock_probability", "lifetimes", "traces", "revocations"});
constexpr auto kRevocationKeys = std::to_array<std::string_view>({"server", "at"});
constexpr auto kGceKeys = std::to_array<std::string_view>(
    {"project", "key_file", "image", "disk_gib", "disk_type", "network", "subnetwork",
     "external_address", "service_account", "url"});

Result<Duration> length(const TomlTable& table, std::string_view key, Duration fallback) {
  if (table.find(key) == nullptr) return fallback;
  TRY_ASSIGN(const std::string text, table.text(key, ""));
  auto read = parse_duration(text);
  if (!read.ok()) return table.wrong(key, read.error().message);
  return read;
}

Result<bool> yes_or_no(const TomlTable& table, std::string_view key, bool fallback) {
  const toml::node* node = table.find(key);
  if (node == nullptr) return fallback;
  const auto value = node->value_exact<bool>();
  if (!value) return table.wrong(key, "write true or false");
  return *value;
}

// What is refused says what the price list has.
Status check_known(const TomlTable& table, std::string_view key,
                   const std::vector<std::string>& wanted, std::vector<std::string> known) {
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const std::string& word : wanted) {
    if (std::ranges::find(known, word) != known.end()) continue;
    return table.wrong(
        key, fmt::format("the price list has no '{}'; it has {}", word, fmt::join(known, ", ")));
  }
  return {};
}

Status read_offers(const TomlTable& table, const std::filesystem::path& folder,
                   ProviderFile& file) {
  TRY_ASSIGN(const std::string prices, table.text("prices", ""));
  TRY_ASSIGN(file.prices, read_prices((folder / prices).string()));
  TRY_ASSIGN(const auto zones, table.texts("zones"));
  TRY_ASSIGN(const auto gpus, table.texts("gpus"));
  TRY_ASSIGN(const auto classes, table.texts("classes"));
  std::vector<std::string> zones_known;
  std::vector<std::string> gpus_known;
  for (const Offer& offer : file.prices.offers) {
    zones_known.push_back(offer.zone);
    if (!offer.gpu.empty()) gpus_known.push_back(offer.gpu);
  }
  TRY(check_known(table, "zones", zones, zones_known));
  TRY(check_known(table, "gpus", gpus, gpus_known));
  TRY(check_known(table, "classes", classes, {"on-demand", "spot", "flex"}));
  const auto allows = [](const std::vector<std::string>& words, std::string_view word) {
    return words.empty() || std::ranges::find(words, word) != words.end();
  };
  for (const Offer& offer : file.prices.offers) {
    if (offer.gpus > 0 && allows(zones, offer.zone) && allows(gpus, offer.gpu) &&
        allows(classes, text_of(offer.offer_class))) {
      file.offers.push_back(offer);
    }
  }
  if (file.offers.empty())
    return table.wrong("no offer of the price list has GPUs and is allowed here");
  return {};
}

Status read_rules(const TomlTable& table, ProviderFile& file) {
  AutoscalingOptions& rules = file.rules;
  TRY_ASSIGN(const std::int64_t least, table.integer("servers_min", rules.servers_min));
  TRY_ASSIGN(const std::int64_t most, table.integer("servers_max", rules.servers_max));
  if (least < 0 || most < 1 || least > most || most > 100'000) {
    return table.wrong("servers_max", "write 0 <= servers_min <= servers_max <= 100000");
  }
  rules.servers_min = static_cast<int>(least);
  rules.servers_max = static_cast<int>(most);
  TRY_ASSIGN(rules.idle_max, length(table, "idle", rules.idle_max));
  TRY_ASSIGN(rules.stop_time, length(table, "stop_time", rules.stop_time));
  TRY_ASSIGN(file.join_max, length(table, "join_max", file.join_max));
  TRY_ASSIGN(file.pause, length(table, "pause", file.pause));
  if (file.pause < std::chrono::seconds(1)) return table.wrong("pause", "write at least 1s");
  for (const auto& [key, limit] :
       {std::pair<std::string_view, double*>("budget_usd", &rules.budget_usd),
        {"budget_usd_per_hour", &rules.budget_usd_per_hour}}) {
    if (table.find(key) == nullptr) continue;
    TRY_ASSIGN(*limit, table.number(key, 1e12));
  }
  return {};
}

Result<std::optional<Lifetime>> read_lifetime(const TomlTable& table) {
  TRY_ASSIGN(const Duration mean, length(table, "lifetime_mean", Duration()));
  TRY_ASSIGN(const double shape, table.number("weibull_shape", 100));
  TRY_ASSIGN(const Duration scale, length(table, "weibull_scale", Duration()));
  TRY_ASSIGN(const Duration limit, length(table, "life_max", Duration()));
  if (mean > Duration() && shape > 0) {
    return table.wrong("lifetime_mean", "give either a mean or a Weibull distribution");
  }
  if ((shape > 0) != (scale > Duration())) {
    return table.wrong("weibull_shape", "a Weibull distribution needs a shape and a scale above 0");
  }
  if (mean <= Duration() && shape <= 0 && limit <= Duration()) return std::optional<Lifetime>();
  Lifetime lifetime = shape > 0
                          ? Lifetime::weibull({.shape = shape, .scale_h = seconds(scale) / 3600})
                          : Lifetime::exponential(mean > Duration() ? 3600 / seconds(mean) : 0);
  return std::optional(limit > Duration() ? lifetime.with_limit(limit) : lifetime);
}

// The measured lives of servers with the GPU of each offer.
Status read_lives(const TomlTable& table, const std::filesystem::path& folder, ProviderFile& file) {
  if (table.find("lifetimes") == nullptr) return {};
  for (const char* other : {"lifetime_mean", "weibull_shape"}) {
    if (table.find(other) == nullptr) continue;
    return table.wrong("lifetimes", fmt::format("give either measured lives or '{}'", other));
  }
  TRY_ASSIGN(const std::string path, table.text("lifetimes", ""));
  TRY_ASSIGN(const auto records, read_lifetimes((folder / path).string()));
  std::map<std::string, std::vector<LifetimeSample>> samples;
  for (const LifetimeRecord& record : records) samples[record.gpu].push_back(sample_of(record));
  TRY_ASSIGN(const Duration limit, length(table, "life_max", kPreemptibleLife));
  std::map<std::string, Lifetime> lives;
  for (const Offer& offer : file.offers) {
    if (offer.offer_class != OfferClass::Spot) continue;
    const auto found = samples.find(offer.gpu);
    if (found == samples.end()) {
      return table.wrong("lifetimes",
                         fmt::format("it has no server with '{}'; it has {}", offer.gpu,
                                     fmt::join(std::views::keys(samples), ", ")));
    }
    lives.try_emplace(offer.gpu, Lifetime::empirical(found->second).with_limit(limit));
  }
  file.world.lifetime = [lives](const Offer& offer) -> std::optional<Lifetime> {
    const auto found = lives.find(offer.gpu);
    if (found == lives.end()) return std::nullopt;
    return found->second;
  };
  return {};
}

// Recorded capacity of zones, and revocations that are given.
Status read_course(const TomlTable& table, const std::filesystem::path& folder,
                   ProviderFile& file) {
  if (const toml::node* node = table.find("traces"); node != nullptr) {
    if (!node->is_table()) return table.wrong("traces", "write a table [local.traces]");
    for (const auto& [key, value] : *node->as_table()) {
      const std::string zone(key.str());
      if (std::ranges::find(file.offers, zone, &Offer::zone) == file.offers.end()) {
        return table.wrong(value, fmt::format("no offer of this file is in zone '{}'", zone));
      }
      const auto path = value.value_exact<std::string>();
      if (!path) return table.wrong(value, "write the path of a spot trace");
      TRY_ASSIGN(const SpotTrace trace, read_spot_trace((folder / *path).string()));
      file.world.traces[zone] = {.tick = trace.tick,
                                 .available = {trace.capacity.begin(), trace.capacity.end()}};
    }
  }
  TRY_ASSIGN(const std::vector<TomlTable> revocations, table.tables("revocations"));
  for (const TomlTable& one : revocations) {
    TRY(one.check_keys(kRevocationKeys));
    TRY(one.check_present(kRevocationKeys, "[[local.revocations]]"));
    TRY_ASSIGN(const std::string server, one.text("server", ""));
    TRY_ASSIGN(const Duration at, length(one, "at", Duration()));
    file.world.revocations.push_back({.server = server, .at = Time(at)});
  }
  return {};
}

Status read_local(const TomlTable& table, const std::filesystem::path& folder, ProviderFile& file) {
  TRY(table.check_keys(kLocalKeys));
  ServerWorld& world = file.world;
  if (table.find("speed") != nullptr) {
    TRY_ASSIGN(file.speed, table.number("speed", 1e6));
    if (file.speed <= 0) return table.wrong("speed", "write more than 0");
  }
  TRY_ASSIGN(const std::int64_t seed, table.integer("seed", 0));
  world.seed = static_cast<std::uint64_t>(seed);
  TRY_ASSIGN(const Duration start_up, length(table, "start_up", Duration()));
  world.start_up = [start_up](const Offer&, Random&) { return start_up; };
  TRY_ASSIGN(const std::optional<Lifetime> lifetime, read_lifetime(table));
  world.lifetime = [lifetime](const Offer&) { return lifetime; };
  TRY(read_lives(table, folder, file));
  TRY(read_course(table, folder, file));
  TRY_ASSIGN(const std::int64_t capacity, table.integer("capacity", -1));
  ZoneShocks shocks;
  TRY_ASSIGN(shocks.per_hour, table.number("shocks_per_hour", 1e6));
  TRY_ASSIGN(shocks.probability, table.number("shock_probability", 1));
  for (const Offer& offer : file.offers) {
    if (capacity >= 0)
      world.capacity[offer.zone] = static_cast<int>(std::min<std::int64_t>(capacity, 1 << 20));
    if (shocks.per_hour > 0) world.shocks[offer.zone] = shocks;
  }
  world.offers = file.offers;
  return {};
}

Status read_gce(const TomlTable& table, const std::filesystem::path& folder, ProviderFile& file) {
  TRY(table.check_keys(kGceKeys));
  GceOptions& gce = file.gce;
  TRY_ASSIGN(gce.project, table.text("project", gce.project));
  if (table.find("key_file") != nullptr) {
    TRY_ASSIGN(const std::string path, table.text("key_file", ""));
    TRY_ASSIGN(gce.identity.key, read_service_account((folder / path).string()));
  }
  if (gce.project.empty() && !gce.identity.key) {
    return table.wrong("write 'project', or the 'key_file' of a service account, which names it");
  }
  TRY_ASSIGN(gce.api.url, table.text("url", gce.api.url));
  GceMachines& machines = gce.machines;
  machines.fleet = file.cluster;
  TRY_ASSIGN(machines.image, table.text("image", machines.image));
  TRY_ASSIGN(const std::int64_t disk, table.integer("disk_gib", machines.disk_gib));
  if (disk < 10 || disk > 65'536) return table.wrong("disk_gib", "write 10 to 65536");
  machines.disk_gib = static_cast<int>(disk);
  TRY_ASSIGN(machines.disk_type, table.text("disk_type", machines.disk_type));
  TRY_ASSIGN(machines.network, table.text("network", machines.network));
  TRY_ASSIGN(machines.subnetwork, table.text("subnetwork", machines.subnetwork));
  TRY_ASSIGN(machines.external_address,
             yes_or_no(table, "external_address", machines.external_address));
  TRY_ASSIGN(machines.service_account, table.text("service_account", machines.service_account));
  return {};
}

// The provider's own environment, so that the programs of servers find what this one finds.
std::vector<std::string> environment_of_servers() {
  std::vector<std::string> variables;
  for (const char* name : {"PATH", "HOME", "USER", "LANG", "TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

}  // namespace

Result<ProviderFile> read_provider_file(std::string_view kind, const std::string& path) {
  if (kind != "local" && kind != "gce") {
    return invalid(fmt::format("--provider {}: write local or gce", kind));
  }
  TRY_ASSIGN(const std::string text, read_file(path));
  TRY_ASSIGN(const toml::table document, parse_toml(path, text));
  const TomlTable table(path, document);
  TRY(table.check_keys(kTopKeys));
  constexpr auto kNeeded = std::to_array<std::string_view>({"prices"});
  TRY(table.check_present(kNeeded, ""));
  ProviderFile file;
  TRY_ASSIGN(file.cluster, table.text("cluster", file.cluster));
  TRY_ASSIGN(file.server, table.text("server", file.server));
  TRY_ASSIGN(file.command, table.text("command", file.command));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  TRY(read_offers(table, folder, file));
  TRY(read_rules(table, file));
  const toml::node* node = table.find(kind);
  const bool is_given = node != nullptr && node->is_table();
  if (!is_given && (node != nullptr || kind == "gce")) {
    return table.wrong(fmt::format("write a table [{}]", kind));
  }
  const toml::table none;
  const TomlTable own(path, is_given ? *node->as_table() : none);
  if (kind == "local") {
    TRY(read_local(own, folder, file));
  } else {
    TRY(read_gce(own, folder, file));
  }
  return file;
}

Result<MadeProvider> make_provider(std::string_view kind, const ProviderFile& file,
                                   const std::string& folder) {
  MadeProvider made;
  if (kind == "local") {
    TRY_ASSIGN(made.provider, LocalServers::open({.folder = folder,
                                                  .world = file.world,
                                                  .clock = faster_clock(file.speed),
                                                  .terminates_on_notice = false,
                                                  .environment = environment_of_servers()}));
    return made;
  }
  made.clock = machine_clock();
  GceOptions options = file.gce;
  options.seed = static_cast<std::uint64_t>(made.clock->now().time_since_epoch().count());
  TRY_ASSIGN(made.provider, GceProvider::make(options, file.offers, *made.clock));
  return made;
}

}  // namespace orrery
