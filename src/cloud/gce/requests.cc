#include "cloud/gce/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/plain_text.h"
#include "cloud/gce/credentials.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kServersKey = "orrery-servers";
constexpr std::size_t kBulkMax = 1000;
constexpr std::size_t kScriptMax = std::size_t{256} << 10;
constexpr Duration kFlexLifeMax = std::chrono::hours(7 * 24);

bool is_lower_word(std::string_view text, bool underscores) {
  for (const char c : text) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || (underscores && c == '_');
    if (!good) return false;
  }
  return true;
}

bool is_instance_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && name.front() >= 'a' && name.front() <= 'z' &&
         name.back() != '-' && is_lower_word(name, false);
}

bool is_label_key(std::string_view key) {
  return !key.empty() && key.size() <= 63 && key.front() >= 'a' && key.front() <= 'z' &&
         is_lower_word(key, true);
}

// A name of an accelerator, or nothing if there is no such GPU here.
std::optional<std::string> accelerator_of(std::string_view gpu) {
  static const std::map<std::string, std::string, std::less<>> kNames = {
      {"k80", "nvidia-tesla-k80"},   {"p4", "nvidia-tesla-p4"},
      {"p100", "nvidia-tesla-p100"}, {"t4", "nvidia-tesla-t4"},
      {"v100", "nvidia-tesla-v100"}, {"a100", "nvidia-tesla-a100"},
      {"l4", "nvidia-l4"},           {"h100", "nvidia-h100-80gb"},
      {"h200", "nvidia-h200-141gb"}, {"a100-80gb", "nvidia-a100-80gb"}};
  std::string lower;
  for (const char c : gpu) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower.starts_with("nvidia-") && is_lower_word(lower, false)) return lower;
  const auto found = kNames.find(lower);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

// Machines of these families have their GPUs built in.
bool has_built_in_gpus(std::string_view machine) {
  for (const std::string_view family : {"a2-", "a3-", "a4-", "a4x-", "g2-", "g4-"}) {
    if (machine.starts_with(family)) return true;
  }
  return false;
}

Status check_offer(const Offer& offer) {
  if (offer.zone.empty() || !is_lower_word(offer.zone, false)) {
    return invalid(fmt::format("'{}' is no zone; write one as us-east1-c", plain_text(offer.zone)));
  }
  if (!is_lower_word(offer.machine_type, false) || offer.machine_type.empty()) {
    return invalid(fmt::format("'{}' is no machine type; write one as n1-standard-4",
                               plain_text(offer.machine_type)));
  }
  if (!offer.gpu.empty() && !accelerator_of(offer.gpu)) {
    return invalid(
        fmt::format("Compute Engine has no GPU '{}'; write k80, p4, p100, t4, v100, l4, "
                    "a100, h100, h200, or the full name nvidia-...",
                    plain_text(offer.gpu)));
  }
  if (!offer.gpu.empty() && offer.gpus < 1) return invalid("a GPU without a count; write gpus = 1");
  const bool flex = offer.offer_class == OfferClass::Flex;
  if (flex && (!offer.life_max || *offer.life_max > kFlexLifeMax)) {
    return invalid("a flex server needs life_max, at most 7 days");
  }
  if (offer.life_max && *offer.life_max < std::chrono::seconds(30)) {
    return invalid("life_max is below 30 s; write 30 s or more");
  }
  return {};
}

Status check_spec(const ServerSpec& spec) {
  if (!is_instance_name(spec.name)) {
    return invalid(
        fmt::format("'{}' is no name of a server; use a-z, 0-9 and '-', at most 63, "
                    "beginning with a letter",
                    plain_text(spec.name)));
  }
  const auto at = [&](const std::string& what) { return invalid(spec.name + ": " + what); };
  if (!is_uuid(spec.request_id)) return at("the request identity must be a UUID that is not zero");
  if (spec.startup.size() > kScriptMax || spec.shutdown.size() > kScriptMax) {
    return at("a script has more than 256 KiB; let it fetch the rest");
  }
  for (const auto& [key, value] : spec.labels) {
    if (!is_label_key(key) || value.size() > 63 || !is_lower_word(value, true)) {
      return at(fmt::format("'{}={}' is no label; use a-z, 0-9, '-' and '_', at most 63",
                            plain_text(key), plain_text(value)));
    }
    if (key.starts_with("orrery-")) return at("labels that begin with orrery- are ours");
  }
  if (Status good = check_offer(spec.offer); !good.ok())
    return std::move(good).error().at(spec.name);
  return {};
}

std::string bulk_key(const ServerSpec& spec) {
  const Offer& offer = spec.offer;
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|", offer.zone, offer.machine_type, offer.gpu, offer.gpus,
                  text_of(offer.offer_class), offer.life_max.value_or(Duration()).count());
  for (const auto& [label, value] : spec.labels) key += label + "=" + value + "|";
  return key + std::to_string(spec.startup.size()) + "|" + spec.startup + "|" + spec.shutdown;
}

// A job's name as a label, in which few characters are allowed.
std::string as_label(std::string_view text) {
  std::string label;
  for (const char c : text.substr(0, 63)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    label += is_lower_word(std::string_view(&lower, 1), true) ? lower : '_';
  }
  return label;
}

Json scheduling_of(const Offer& offer) {
  const bool spot = offer.offer_class == OfferClass::Spot;
  const bool flex = offer.offer_class == OfferClass::Flex;
  Json scheduling = {{"provisioningModel", spot   ? "SPOT"
                                           : flex ? "FLEX_START"
                                                  : "STANDARD"},
                     {"automaticRestart", false}};
  const bool movable = !spot && !flex && offer.gpu.empty();
  scheduling["onHostMaintenance"] = movable ? "MIGRATE" : "TERMINATE";
  // Stopped instances would still be billed for their disks.
  if (spot || offer.life_max) scheduling["instanceTerminationAction"] = "DELETE";
  if (offer.life_max) {
    const auto life_s = std::chrono::floor<std::chrono::seconds>(*offer.life_max).count();
    scheduling["maxRunDuration"] = {{"seconds", std::to_string(life_s)}};
  }
  return scheduling;
}

Json metadata_of(const BulkGroup& group) {
  Json servers = Json::object();
  for (const ServerSpec& spec : group.specs) {
    servers[spec.name] = {{"job", spec.job},
                          {"role", spec.role},
                          {"index", spec.index},
                          {"request", spec.request_id}};
  }
  const auto replace = Json::error_handler_t::replace;
  Json items = Json::array();
  items.push_back({{"key", kServersKey}, {"value", servers.dump(-1, ' ', false, replace)}});
  const ServerSpec& first = group.specs.front();
  if (!first.startup.empty())
    items.push_back({{"key", "startup-script"}, {"value", first.startup}});
  if (!first.shutdown.empty()) {
    items.push_back({{"key", "shutdown-script"}, {"value", first.shutdown}});
  }
  return {{"items", items}};
}

Json properties_of(const BulkGroup& group, const GceMachines& machines,
                   std::string_view image_link) {
  const ServerSpec& first = group.specs.front();
  Json labels = {{std::string(kFleetLabel), machines.fleet},
                 {std::string(kRequestLabel), group.request_id},
                 {"orrery-job", as_label(first.job)}};
  for (const auto& [key, value] : first.labels) labels[key] = value;
  Json network = {{"network", machines.network}};
  if (!machines.subnetwork.empty()) network["subnetwork"] = machines.subnetwork;
  if (machines.external_address) {
    network["accessConfigs"] =
        Json::array({Json{{"type", "ONE_TO_ONE_NAT"}, {"name", "External NAT"}}});
  }
  const Json disk = {{"boot", true},
                     {"autoDelete", true},
                     {"initializeParams",
                      {{"sourceImage", image_link},
                       {"diskSizeGb", std::to_string(machines.disk_gib)},
                       {"diskType", machines.disk_type}}}};
  Json properties = {{"machineType", first.offer.machine_type},
                     {"scheduling", scheduling_of(first.offer)},
                     {"disks", Json::array({disk})},
                     {"networkInterfaces", Json::array({network})},
                     {"metadata", metadata_of(group)},
                     {"labels", labels}};
  if (!first.offer.gpu.empty() && !has_built_in_gpus(first.offer.machine_type)) {
    properties["guestAccelerators"] =
        Json::array({Json{{"acceleratorType", accelerator_of(first.offer.gpu).value_or("")},
                          {"acceleratorCount", first.offer.gpus}}});
  }
  if (first.offer.offer_class == OfferClass::Flex) {
    properties["reservationAffinity"] = {{"consumeReservationType", "NO_RESERVATION"}};
  }
  if (!machines.service_account.empty()) {
    properties["serviceAccounts"] = Json::array(
        {Json{{"email", machines.service_account},
              {"scopes", Json::array({"https://www.googleapis.com/auth/cloud-platform"})}}});
  }
  return properties;
}

std::string identity_of(const BulkGroup& group) {
  std::vector<std::string> parts;
  for (const ServerSpec& spec : group.specs) parts.push_back(spec.name + " " + spec.request_id);
  std::sort(parts.begin(), parts.end());
  std::string text = "bulk";
  for (const std::string& part : parts) text += "\n" + part;
  return uuid_from(text);
}

}  // namespace

Status check_specs(const std::vector<ServerSpec>& specs, std::size_t min) {
  if (min > specs.size()) {
    return invalid(fmt::format("at least {} of {} servers cannot be; write {} or less", min,
                               specs.size(), specs.size()));
  }
  std::set<std::string> names;
  std::set<std::string> identities;
  for (const ServerSpec& spec : specs) {
    TRY(check_spec(spec));
    if (!names.insert(spec.name).second) return invalid(spec.name + ": the name occurs twice");
    if (!identities.insert(spec.request_id).second) {
      return invalid(spec.name + ": the request identity occurs twice");
    }
  }
  return {};
}

std::vector<BulkGroup> bulk_groups(const std::vector<ServerSpec>& specs, std::size_t min) {
  std::vector<BulkGroup> groups;
  std::map<std::string, std::size_t> place;
  for (const ServerSpec& spec : specs) {
    const std::string key = spec.job + "|" + bulk_key(spec);
    const auto found = place.find(key);
    const bool fits = found != place.end() && groups[found->second].specs.size() < kBulkMax;
    if (!fits) {
      place[key] = groups.size();
      groups.emplace_back();
    }
    groups[place[key]].specs.push_back(spec);
  }
  for (BulkGroup& group : groups) {
    const std::size_t others = specs.size() - group.specs.size();
    group.min = std::max<std::size_t>(1, min > others ? min - others : 0);
    group.request_id = identity_of(group);
  }
  return groups;
}

std::string bulk_body(const BulkGroup& group, const GceMachines& machines,
                      std::string_view image_link) {
  Json names = Json::object();
  for (const ServerSpec& spec : group.specs) names[spec.name] = Json::object();
  const Json body = {{"count", std::to_string(group.specs.size())},
                     {"minCount", std::to_string(group.min)},
                     {"perInstanceProperties", names},
                     {"instanceProperties", properties_of(group, machines, image_link)}};
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ServerSpec> spec_of(const GceInstance& instance, const std::vector<Offer>& offers) {
  const auto item = instance.metadata.find(std::string(kServersKey));
  if (item == instance.metadata.end()) return std::nullopt;
  const Json servers = Json::parse(item->second, nullptr, false);
  if (!servers.is_object() || !servers.contains(instance.name)) return std::nullopt;
  const Json& own = servers[instance.name];
  if (!own.is_object()) return std::nullopt;
  const auto word = [&](const char* field) {
    const auto found = own.find(field);
    return found != own.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  ServerSpec spec;
  spec.name = instance.name;
  spec.job = word("job");
  spec.role = word("role");
  spec.request_id = word("request");
  if (own.contains("index") && own["index"].is_number_integer()) spec.index = own["index"];
  spec.offer.zone = instance.zone;
  spec.offer.machine_type = instance.machine_type;
  spec.offer.offer_class = instance.provisioning == "SPOT"         ? OfferClass::Spot
                           : instance.provisioning == "FLEX_START" ? OfferClass::Flex
                                                                   : OfferClass::OnDemand;
  for (const Offer& offer : offers) {
    if (offer.zone == spec.offer.zone && offer.machine_type == spec.offer.machine_type &&
        offer.offer_class == spec.offer.offer_class) {
      spec.offer = offer;
      break;
    }
  }
  for (const auto& [key, value] : instance.labels) {
    if (!key.starts_with("orrery-")) spec.labels[key] = value;
  }
  return spec;
}

}  // namespace orrery
