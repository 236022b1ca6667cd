#include "cloud/gce/answers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cloud/gce/timestamp.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

Json parse(std::string_view body) { return Json::parse(body, nullptr, false); }

const Json& child(const Json& value, const char* name) {
  static const Json none;
  if (!value.is_object()) return none;
  const auto found = value.find(name);
  return found == value.end() ? none : *found;
}

// Numbers of 64 bits may be strings.
std::string text(const Json& value, const char* name) {
  const Json& found = child(value, name);
  if (found.is_string()) return found.get<std::string>();
  if (found.is_number_integer()) return found.dump();
  return {};
}

Time time_in(const Json& value, const char* name) {
  return rfc3339_time(text(value, name)).value_or(kNever);
}

std::string last_part(const std::string& link) { return link.substr(link.rfind('/') + 1); }

Error not_of_kind(std::string_view kind) {
  return {Code::Unavailable,
          fmt::format("the answer is not a {}; is there a proxy on the way?", kind)};
}

GceStatus status_of(const std::string& word) {
  static const std::map<std::string_view, GceStatus> kWords = {
      {"PENDING", GceStatus::Pending},         {"PROVISIONING", GceStatus::Provisioning},
      {"STAGING", GceStatus::Staging},         {"RUNNING", GceStatus::Running},
      {"STOPPING", GceStatus::Stopping},       {"SUSPENDING", GceStatus::Stopping},
      {"DEPROVISIONING", GceStatus::Stopping}, {"PENDING_STOP", GceStatus::Stopping},
      {"TERMINATED", GceStatus::Stopped},      {"SUSPENDED", GceStatus::Stopped},
      {"STOPPED", GceStatus::Stopped},
  };
  const auto found = kWords.find(word);
  return found == kWords.end() ? GceStatus::Repairing : found->second;
}

std::string address_in(const Json& instance) {
  const Json& interfaces = child(instance, "networkInterfaces");
  if (!interfaces.is_array() || interfaces.empty()) return {};
  const Json& accesses = child(interfaces[0], "accessConfigs");
  if (accesses.is_array() && !accesses.empty()) {
    const std::string external = text(accesses[0], "natIP");
    if (!external.empty()) return external;
  }
  return text(interfaces[0], "networkIP");
}

GceOperation operation_of(const Json& value) {
  GceOperation operation;
  operation.name = text(value, "name");
  operation.type = text(value, "operationType");
  operation.target = last_part(text(value, "targetLink"));
  operation.target_id = text(value, "targetId");
  operation.done = text(value, "status") == "DONE";
  operation.begun = time_in(value, "insertTime");
  const Json& faults = child(child(value, "error"), "errors");
  if (faults.is_array()) {
    for (const Json& fault : faults) {
      operation.faults.push_back({text(fault, "code"), text(fault, "message")});
    }
  }
  return operation;
}

GceInstance instance_of(const Json& value) {
  GceInstance instance;
  instance.name = text(value, "name");
  instance.id = text(value, "id");
  instance.zone = last_part(text(value, "zone"));
  instance.machine_type = last_part(text(value, "machineType"));
  instance.provisioning = text(child(value, "scheduling"), "provisioningModel");
  instance.status = status_of(text(value, "status"));
  instance.address = address_in(value);
  instance.created = time_in(value, "creationTimestamp");
  instance.started = time_in(value, "lastStartTimestamp");
  const Json& labels = child(value, "labels");
  if (labels.is_object()) {
    for (const auto& [key, label] : labels.items()) {
      if (label.is_string()) instance.labels[key] = label.get<std::string>();
    }
  }
  const Json& items = child(child(value, "metadata"), "items");
  if (items.is_array()) {
    for (const Json& item : items) instance.metadata[text(item, "key")] = text(item, "value");
  }
  return instance;
}

template <class Item, class Read>
Result<GcePage<Item>> read_page(std::string_view body, std::string_view kind, Read read) {
  const Json value = parse(body);
  if (!value.is_object() || text(value, "kind") != kind) return not_of_kind(kind);
  const Json& items = child(value, "items");
  if (!items.is_null() && !items.is_array()) return not_of_kind(kind);
  GcePage<Item> page;
  page.next = text(value, "nextPageToken");
  for (const Json& item : items) {
    Item made = read(item);
    if (made.name.empty()) return not_of_kind(kind);
    page.items.push_back(std::move(made));
  }
  return page;
}

template <class Item, class Read>
Result<Item> read_one(std::string_view body, std::string_view kind, Read read) {
  const Json value = parse(body);
  if (!value.is_object() || text(value, "kind") != kind) return not_of_kind(kind);
  Item made = read(value);
  if (made.name.empty()) return not_of_kind(kind);
  return made;
}

}  // namespace

GceFault read_fault(std::string_view body) {
  const Json value = parse(body);
  const Json& error = child(value, "error");
  // The token endpoint writes {"error": "invalid_grant", "error_description": "..."}.
  if (error.is_string()) return {error.get<std::string>(), text(value, "error_description")};
  GceFault fault{text(error, "status"), text(error, "message")};
  const Json& errors = child(error, "errors");
  if (errors.is_array() && !errors.empty()) {
    const std::string reason = text(errors[0], "reason");
    if (!reason.empty()) fault.code = reason;
  }
  return fault;
}

Result<GceOperation> read_operation(std::string_view body) {
  return read_one<GceOperation>(body, "compute#operation", operation_of);
}

Result<GcePage<GceOperation>> read_operations(std::string_view body) {
  return read_page<GceOperation>(body, "compute#operationList", operation_of);
}

Result<GceInstance> read_instance(std::string_view body) {
  return read_one<GceInstance>(body, "compute#instance", instance_of);
}

Result<GcePage<GceInstance>> read_instances(std::string_view body) {
  return read_page<GceInstance>(body, "compute#instanceList", instance_of);
}

Result<std::string> read_image_link(std::string_view body) {
  const Json value = parse(body);
  const std::string link = text(value, "selfLink");
  if (text(value, "kind") != "compute#image" || link.empty()) return not_of_kind("compute#image");
  return link;
}

Result<GceToken> read_access_token(std::string_view body) {
  const Json value = parse(body);
  const Json& life = child(value, "expires_in");
  GceToken token;
  token.text = text(value, "access_token");
  // A token with a line break could add a header of its own.
  const bool printable = token.text.find_first_of("\r\n") == std::string::npos;
  if (token.text.empty() || !printable || !life.is_number()) return not_of_kind("access token");
  token.life = from_seconds(life.get<double>());
  return token;
}

std::optional<std::string> kind_of(std::string_view body) {
  const Json value = parse(body);
  if (!value.is_object()) return std::nullopt;
  return text(value, "kind");
}

}  // namespace orrery
