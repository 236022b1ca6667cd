#include "cloud/transient_run/transient_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/toml_table.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::int64_t kServersMost = 256;
constexpr double kLargest = 1e12;

constexpr auto kTopKeys = std::to_array<std::string_view>(
    {"name", "prices", "replacement", "usd_per_hour_of_time", "checkpoint_most", "chief", "workers",
     "parameter_servers", "evaluator", "training", "local", "speeds"});
constexpr auto kRoleKeys = std::to_array<std::string_view>({"count", "gpu", "zone", "preemptible"});
constexpr auto kTrainingKeys = std::to_array<std::string_view>(
    {"model", "data", "mode", "batch", "rate", "rate_rule", "slots", "steps", "target",
     "time_limit", "evaluate_every", "seed", "arguments"});
constexpr auto kLocalKeys = std::to_array<std::string_view>(
    {"compression", "seed", "startup_least", "startup_most", "lifetimes", "revocations",
     "shocks_per_hour", "shock_share", "capacity", "cores"});

// A word, or a list of words.
Result<std::vector<std::string>> words(const TomlTable& table, std::string_view key) {
  const toml::node* const node = table.find(key);
  if (node == nullptr) return std::vector<std::string>{};
  if (const auto one = node->value<std::string>(); one && node->is_string()) {
    return std::vector<std::string>{*one};
  }
  const toml::array* const list = node->as_array();
  if (list == nullptr) return table.wrong(key, "must be a text, or a list of texts");
  std::vector<std::string> found;
  for (const toml::node& each : *list) {
    if (!each.is_string()) return table.wrong(key, "must be a text, or a list of texts");
    found.push_back(*each.value<std::string>());
  }
  return found;
}

Result<bool> yes_or_no(const TomlTable& table, std::string_view key, bool fallback) {
  const toml::node* const node = table.find(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) return table.wrong(key, "must be true or false");
  return *node->value<bool>();
}

Result<double> number(const TomlTable& table, std::string_view key, double fallback) {
  if (table.find(key) == nullptr) return fallback;
  return table.number(key, kLargest);
}

Result<std::int64_t> whole(const TomlTable& table, std::string_view key, std::int64_t fallback) {
  TRY_ASSIGN(const std::int64_t value, table.integer(key, fallback));
  if (value < 0) return table.wrong(key, fmt::format("is {}; write 0 or more", value));
  return value;
}

// Calls `read` with the table of that name, if there is one.
template <class Read>
Status section(std::string_view file, const toml::table& top, std::string_view name,
               const Read& read) {
  const toml::node* const node = top.get(name);
  if (node == nullptr) return {};
  if (!node->is_table()) return toml_error(file, *node, fmt::format("[{}] is no table", name));
  return read(TomlTable(file, *node->as_table()));
}

Status read_role(const TomlTable& table, RoleSpec& role) {
  TRY(table.check_keys(kRoleKeys));
  TRY_ASSIGN(const std::int64_t count, whole(table, "count", role.count));
  if (count > kServersMost) {
    return table.wrong("count", fmt::format("is {}; at most {}", count, kServersMost));
  }
  role.count = static_cast<int>(count);
  TRY_ASSIGN(role.gpus, words(table, "gpu"));
  TRY_ASSIGN(role.zones, words(table, "zone"));
  TRY_ASSIGN(role.preemptible, yes_or_no(table, "preemptible", role.preemptible));
  return {};
}

Status read_training(const TomlTable& table, TrainingSpec& training) {
  TRY(table.check_keys(kTrainingKeys));
  TRY_ASSIGN(training.model, table.text("model", training.model));
  TRY_ASSIGN(training.data, table.text("data", training.data));
  TRY_ASSIGN(training.mode, table.text("mode", training.mode));
  TRY_ASSIGN(training.batch, whole(table, "batch", training.batch));
  TRY_ASSIGN(training.rate, number(table, "rate", training.rate));
  TRY_ASSIGN(training.rate_rule, table.text("rate_rule", training.rate_rule));
  if (!rate_rule_of(training.rate_rule)) {
    return table.wrong("rate_rule", "must be inverse-root, linear, none or naive");
  }
  TRY_ASSIGN(training.slots, whole(table, "slots", training.slots));
  TRY_ASSIGN(training.steps, whole(table, "steps", training.steps));
  TRY_ASSIGN(training.target, number(table, "target", training.target));
  if (table.find("time_limit") != nullptr) {
    TRY_ASSIGN(training.time_limit, table.text("time_limit", ""));
  }
  TRY_ASSIGN(training.evaluate_every, whole(table, "evaluate_every", training.evaluate_every));
  TRY_ASSIGN(training.seed, whole(table, "seed", training.seed));
  TRY_ASSIGN(training.arguments, words(table, "arguments"));
  return {};
}

Status read_local(const TomlTable& table, LocalSpec& local) {
  TRY(table.check_keys(kLocalKeys));
  TRY_ASSIGN(local.compression, number(table, "compression", local.compression));
  if (!(local.compression > 0)) return table.wrong("compression", "must be above 0");
  TRY_ASSIGN(local.seed, whole(table, "seed", local.seed));
  TRY_ASSIGN(local.startup_least, table.text("startup_least", local.startup_least));
  TRY_ASSIGN(local.startup_most, table.text("startup_most", local.startup_most));
  TRY_ASSIGN(local.lifetimes, words(table, "lifetimes"));
  TRY_ASSIGN(local.revocations, words(table, "revocations"));
  TRY_ASSIGN(local.shocks_per_hour, number(table, "shocks_per_hour", local.shocks_per_hour));
  TRY_ASSIGN(local.shock_share, number(table, "shock_share", local.shock_share));
  TRY_ASSIGN(local.capacity, words(table, "capacity"));
  TRY_ASSIGN(local.cores, words(table, "cores"));
  return {};
}

Status read_speeds(std::string_view file, const toml::table& table, TransientSpec& spec) {
  for (const auto& [gpu, value] : table) {
    const auto speed = value.value<double>();
    if (!speed || !(*speed > 0) || !(*speed < kLargest)) {
      return toml_error(file, value, fmt::format("the speed of {} must be above 0", gpu.str()));
    }
    spec.speeds[std::string(gpu.str())] = *speed;
  }
  return {};
}

// A role with the numbers that its servers have.
struct NumberedRole {
  const char* label;        // in files and messages
  const char* server_role;  // in the names of servers
  int first = 0;
};
constexpr NumberedRole kChief{.label = "chief", .server_role = "chief"};
// The chief is worker 0.
constexpr NumberedRole kWorkers{.label = "workers", .server_role = "worker", .first = 1};
constexpr NumberedRole kParameterServers{.label = "parameter_servers", .server_role = "ps"};
constexpr NumberedRole kEvaluator{.label = "evaluator", .server_role = "evaluator"};

std::string server_of(const NumberedRole& role, int at) {
  return fmt::format("{}-{}", role.server_role, role.first + at);
}

// The word of a list for server `at` of `count`.
Result<std::string> entry(const std::vector<std::string>& list, int count, int at,
                          const NumberedRole& role, std::string_view what) {
  const int size = static_cast<int>(list.size());
  if (size == 1) return list.front();
  if (size == count) return list[static_cast<std::size_t>(at)];
  if (size == 0) {
    return invalid(fmt::format("{}: no {} is named; write one for all, or one for each of {}",
                               role.label, what, count));
  }
  const std::string lacking =
      size < count ? fmt::format(": {} lacks an entry", server_of(role, size)) : "";
  return invalid(fmt::format("{}: {}s named: {}, servers: {}{}; write one for all, or one for each",
                             role.label, what, size, count, lacking));
}

// Gives each server of `roles` its entry of `list`.
Status assign(const std::vector<std::string>& list, std::string_view what,
              std::span<const std::pair<NumberedRole, RoleSpec*>> roles,
              std::vector<std::string> RoleSpec::*entries) {
  const int size = static_cast<int>(list.size());
  int servers = 0;
  std::string lacking;
  for (const auto& [role, spec] : roles) {
    for (int at = 0; at < spec->count; ++at, ++servers) {
      if (servers == size) lacking = fmt::format(": {} lacks an entry", server_of(role, at));
    }
  }
  if (size != 1 && size != servers) {
    return invalid(fmt::format(
        "{}s named: {}, servers: {}{}; write one for all, or one for each, in the order "
        "chief, workers, parameter servers",
        what, size, servers, lacking));
  }
  auto next = list.begin();
  for (const auto& [role, spec] : roles) {
    spec->*entries = size == 1 ? list : std::vector<std::string>(next, next + spec->count);
    if (size > 1) next += spec->count;
  }
  return {};
}

}  // namespace

Result<TransientSpec> parse_transient_spec(std::string_view name, std::string_view text) {
  TRY_ASSIGN(const toml::table document, parse_toml(name, text));
  const TomlTable top(name, document);
  TRY(top.check_keys(kTopKeys));
  TransientSpec spec;
  TRY_ASSIGN(spec.name, top.text("name", spec.name));
  if (top.find("prices") != nullptr) {
    TRY_ASSIGN(spec.prices, top.text("prices", ""));
  }
  TRY_ASSIGN(spec.replacement, top.text("replacement", spec.replacement));
  if (!replacement_rule_of(spec.replacement)) {
    return top.wrong("replacement",
                     fmt::format("must be one of {}", fmt::join(replacement_rules(), ", ")));
  }
  TRY_ASSIGN(spec.usd_per_hour_of_time, number(top, "usd_per_hour_of_time", 0));
  TRY_ASSIGN(spec.checkpoint_most, top.text("checkpoint_most", spec.checkpoint_most));
  const std::pair<std::string_view, RoleSpec*> roles[] = {
      {"chief", &spec.chief},
      {"workers", &spec.workers},
      {"parameter_servers", &spec.parameter_servers},
      {"evaluator", &spec.evaluator}};
  for (const auto& [role, into] : roles) {
    TRY(section(name, document, role,
                [&into = into](const TomlTable& table) { return read_role(table, *into); }));
  }
  TRY(section(name, document, "training",
              [&](const TomlTable& table) { return read_training(table, spec.training); }));
  TRY(section(name, document, "local",
              [&](const TomlTable& table) { return read_local(table, spec.local); }));
  if (const toml::node* const speeds = document.get("speeds"); speeds != nullptr) {
    if (!speeds->is_table()) return toml_error(name, *speeds, "[speeds] is no table");
    TRY(read_speeds(name, *speeds->as_table(), spec));
  }
  return spec;
}

Result<TransientSpec> read_transient_spec(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_transient_spec(path, text);
}

Status assign_gpus(const std::vector<std::string>& gpus, TransientSpec& spec) {
  const std::pair<NumberedRole, RoleSpec*> roles[] = {{kChief, &spec.chief},
                                                      {kWorkers, &spec.workers}};
  return assign(gpus, "GPU", roles, &RoleSpec::gpus);
}

Status assign_zones(const std::vector<std::string>& zones, TransientSpec& spec) {
  const std::pair<NumberedRole, RoleSpec*> roles[] = {{kChief, &spec.chief},
                                                      {kWorkers, &spec.workers},
                                                      {kParameterServers, &spec.parameter_servers}};
  return assign(zones, "zone", roles, &RoleSpec::zones);
}

Result<std::vector<ServerPlace>> server_places(const TransientSpec& spec, const PriceList& prices) {
  if (spec.chief.count != 1) return invalid("chief: a cluster has one; write count = 1");
  if (spec.parameter_servers.count < 1) {
    return invalid("parameter_servers: the parameters need a server; write count = 1 or more");
  }
  if (spec.evaluator.count != 1) return invalid("evaluator: write count = 1");
  struct Role {
    NumberedRole role;
    const RoleSpec* spec;
    bool needs_gpu;
  };
  const Role roles[] = {{kChief, &spec.chief, true},
                        {kWorkers, &spec.workers, true},
                        {kParameterServers, &spec.parameter_servers, false},
                        {kEvaluator, &spec.evaluator, false}};
  std::vector<ServerPlace> places;
  for (const auto& [role, servers, needs_gpu] : roles) {
    std::vector<std::string> gpus = servers->gpus;
    if (gpus.empty() && !needs_gpu) gpus = {""};
    for (int at = 0; at < servers->count; ++at) {
      TRY_ASSIGN(const std::string gpu, entry(gpus, servers->count, at, role, "GPU"));
      TRY_ASSIGN(const std::string zone, entry(servers->zones, servers->count, at, role, "zone"));
      const OfferClass offer_class = servers->preemptible ? OfferClass::Spot : OfferClass::OnDemand;
      auto offer = find_offer(prices, zone, gpu, gpu.empty() ? 0 : 1, offer_class);
      if (!offer.ok()) return invalid(std::move(offer).error().at(role.label).message);
      places.push_back(
          {.role = role.server_role, .index = role.first + at, .offer = std::move(offer).value()});
    }
  }
  return places;
}

}  // namespace orrery
