#include "cloud/gce/testing/fake_schema.h"

#include <fmt/format.h>

#include <map>

namespace orrery {
namespace {

using Json = nlohmann::json;

// Fields of each kind of object and their types: s text, b bool, n 32-bit number, l 64-bit number
// (text or number), m map of texts, [x] list of x, else the name of another kind.
using Fields = std::map<std::string, std::string>;

const std::map<std::string, Fields>& schema() {
  static const std::map<std::string, Fields> kinds = {
      {"BulkInsert",
       {{"count", "l"},
        {"minCount", "l"},
        {"namePattern", "s"},
        {"perInstanceProperties", "PerInstance"},
        {"instanceProperties", "Properties"},
        {"sourceInstanceTemplate", "s"}}},
      {"Properties",
       {{"description", "s"},
        {"machineType", "s"},
        {"scheduling", "Scheduling"},
        {"guestAccelerators", "[Accelerator"},
        {"disks", "[Disk"},
        {"networkInterfaces", "[Network"},
        {"metadata", "Metadata"},
        {"labels", "m"},
        {"serviceAccounts", "[Account"},
        {"reservationAffinity", "Affinity"},
        {"minCpuPlatform", "s"}}},
      {"Scheduling",
       {{"provisioningModel", "s"},
        {"instanceTerminationAction", "s"},
        {"onHostMaintenance", "s"},
        {"automaticRestart", "b"},
        {"preemptible", "b"},
        {"maxRunDuration", "Duration"}}},
      {"Duration", {{"seconds", "l"}, {"nanos", "n"}}},
      {"Accelerator", {{"acceleratorType", "s"}, {"acceleratorCount", "n"}}},
      {"Disk", {{"boot", "b"}, {"autoDelete", "b"}, {"initializeParams", "DiskParams"}}},
      {"DiskParams", {{"sourceImage", "s"}, {"diskSizeGb", "l"}, {"diskType", "s"}}},
      {"Network", {{"network", "s"}, {"subnetwork", "s"}, {"accessConfigs", "[Access"}}},
      {"Access", {{"type", "s"}, {"name", "s"}}},
      {"Metadata", {{"items", "[Item"}}},
      {"Item", {{"key", "s"}, {"value", "s"}}},
      {"Account", {{"email", "s"}, {"scopes", "[s"}}},
      {"Affinity", {{"consumeReservationType", "s"}}},
      {"OneInstance", {{"name", "s"}, {"hostname", "s"}}},
  };
  return kinds;
}

std::string wrong(const std::string& place, const std::string& type, const Json& value) {
  return fmt::format("Invalid value at '{}' ({}), {}", place, type, value.dump().substr(0, 80));
}

bool is_long(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_string() && !value.get<std::string>().empty() &&
         value.get<std::string>().find_first_not_of("0123456789") == std::string::npos;
}

std::string fault_in(const Json& value, const std::string& type, const std::string& place) {
  if (type == "s") return value.is_string() ? "" : wrong(place, "TYPE_STRING", value);
  if (type == "b") return value.is_boolean() ? "" : wrong(place, "TYPE_BOOL", value);
  if (type == "n") return value.is_number_integer() ? "" : wrong(place, "TYPE_INT32", value);
  if (type == "l") return is_long(value) ? "" : wrong(place, "TYPE_INT64", value);
  if (type.starts_with('[')) {
    if (!value.is_array()) return wrong(place, "list", value);
    for (const Json& item : value) {
      if (std::string fault = fault_in(item, type.substr(1), place); !fault.empty()) return fault;
    }
    return "";
  }
  if (!value.is_object()) return wrong(place, type, value);
  for (const auto& [name, child] : value.items()) {
    std::string child_type = type == "m" ? "s" : type == "PerInstance" ? "OneInstance" : "";
    if (child_type.empty()) {
      const Fields& fields = schema().at(type);
      const auto field = fields.find(name);
      if (field == fields.end()) {
        return fmt::format("Unknown name \"{}\" at '{}': Cannot find field.", name, place);
      }
      child_type = field->second;
    }
    if (std::string fault = fault_in(child, child_type, place + "." + name); !fault.empty()) {
      return fault;
    }
  }
  return "";
}

std::string scheduling_fault(const Json& properties) {
  const Json& scheduling = properties["scheduling"];
  const std::string model = scheduling.value("provisioningModel", "STANDARD");
  const std::string action = scheduling.value("instanceTerminationAction", "");
  const bool has_life = scheduling.contains("maxRunDuration");
  if (model != "SPOT" && model != "STANDARD" && model != "FLEX_START") {
    return "Invalid value for field 'scheduling.provisioningModel'";
  }
  if (model != "STANDARD" && scheduling.value("automaticRestart", true)) {
    return "Automatic restart is not possible with this provisioning model";
  }
  if (model != "STANDARD" && scheduling.value("onHostMaintenance", "MIGRATE") != "TERMINATE") {
    return "onHostMaintenance must be TERMINATE with this provisioning model";
  }
  if (properties.contains("guestAccelerators") &&
      scheduling.value("onHostMaintenance", "MIGRATE") != "TERMINATE") {
    return "Instances with guest accelerators do not support live migration.";
  }
  if (model == "FLEX_START" && (!has_life || action != "DELETE")) {
    return "FLEX_START needs maxRunDuration and instanceTerminationAction DELETE";
  }
  if (!action.empty() && model == "STANDARD" && !has_life) {
    return "instanceTerminationAction needs the SPOT model or maxRunDuration";
  }
  return "";
}

}  // namespace

std::string bulk_insert_fault(const Json& body) {
  if (std::string fault = fault_in(body, "BulkInsert", "body"); !fault.empty()) return fault;
  if (!body.contains("count") || !body.contains("instanceProperties")) {
    return "Required field 'count' or 'instanceProperties' not specified";
  }
  if (!body.contains("perInstanceProperties") || body.contains("namePattern")) {
    return "Either namePattern or perInstanceProperties must be set";
  }
  const auto whole = [](const Json& value) {
    return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<long long>();
  };
  const auto names = static_cast<long long>(body["perInstanceProperties"].size());
  if (whole(body["count"]) != names) return "count differs from perInstanceProperties";
  if (body.contains("minCount") &&
      (whole(body["minCount"]) < 1 || whole(body["minCount"]) > names)) {
    return "minCount must be between 1 and count";
  }
  const Json& properties = body["instanceProperties"];
  for (const char* field : {"machineType", "scheduling", "disks", "networkInterfaces"}) {
    if (!properties.contains(field)) return fmt::format("Required field '{}' not specified", field);
  }
  if (properties["machineType"].get<std::string>().find('/') != std::string::npos) {
    return "machineType must be a name here, not a URL";
  }
  return scheduling_fault(properties);
}

}  // namespace orrery
