#include "cloud/gce/testing/fake_zones.h"

#include <fmt/format.h>

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr Duration kProvisioning = std::chrono::seconds(2);
constexpr Duration kStaging = std::chrono::seconds(40);
constexpr Duration kStopping = std::chrono::seconds(30);

std::int64_t whole(const Json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<std::int64_t>();
}

bool is_flex(const FakeInstance& instance) {
  return instance.properties["scheduling"]["provisioningModel"] == "FLEX_START";
}

Time life_end(const FakeInstance& instance) {
  const Json& scheduling = instance.properties["scheduling"];
  if (instance.started == kNever || !scheduling.contains("maxRunDuration")) return kNever;
  return instance.started + std::chrono::seconds(whole(scheduling["maxRunDuration"]["seconds"]));
}

}  // namespace

void FakeZone::move_to(Time now) {
  for (const auto& [at, name] : rollbacks_) {
    if (at <= now) instances_.erase(name);
  }
  std::erase_if(rollbacks_, [&](const auto& rollback) { return rollback.first <= now; });
  std::vector<std::string> over;
  for (auto& [name, instance] : instances_) {
    const Time begin = instance.created + (is_flex(instance) ? flex_wait : Duration());
    if (instance.stopping == kNever) {
      if (now < begin) {
        instance.status = "PENDING";
      } else if (now < begin + kProvisioning) {
        instance.status = "PROVISIONING";
      } else if (now < begin + kProvisioning + kStaging) {
        instance.status = "STAGING";
      } else if (instance.status != "TERMINATED") {
        instance.status = "RUNNING";
        instance.started = begin + kProvisioning + kStaging;
      }
    }
    if (life_end(instance) <= now && instance.stopping == kNever) over.push_back(name);
  }
  for (const std::string& name : over) {
    end_by("compute.instances.deferredDelete", name, life_end(instances_[name]), true);
  }
  for (auto at = instances_.begin(); at != instances_.end();) {
    FakeInstance& instance = at->second;
    const bool gone = instance.stopping != kNever && instance.stopping + kStopping <= now;
    if (gone && instance.then_deleted) {
      at = instances_.erase(at);
      continue;
    }
    if (gone) instance.status = "TERMINATED";
    ++at;
  }
}

FakeOperation& FakeZone::add_operation(const std::string& type, const std::string& target,
                                       Time now) {
  FakeOperation operation;
  operation.name = fmt::format("operation-{}", operations_.size() + 1);
  operation.type = type;
  operation.target = target;
  if (const auto found = instances_.find(target); found != instances_.end()) {
    operation.target_id = found->second.id;
  }
  operation.begun = now;
  operation.ends = now + std::chrono::seconds(1);
  operations_.push_back(operation);
  return operations_.back();
}

void FakeZone::create(const std::string& name, const Json& properties, Time now) {
  FakeInstance instance;
  instance.name = name;
  instance.id = ++next_id_;
  instance.properties = properties;
  instance.created = now;
  instances_[name] = instance;
  most_of_one_name_ = std::max(most_of_one_name_, ++times_made_[name]);
}

FakeOperation& FakeZone::bulk_insert(const Json& body, Time now) {
  FakeOperation& operation = add_operation("bulkInsert", "", now);
  operation.ends = operations_end ? now + bulk_time : kNever;
  const Json& properties = body["instanceProperties"];
  const auto min =
      static_cast<std::size_t>(whole(body.contains("minCount") ? body["minCount"] : body["count"]));
  std::vector<std::string> made;
  const auto fail = [&](const char* code, const std::string& message) {
    if (operation.error_code.empty()) {
      operation.error_code = code;
      operation.error_message = message;
    }
  };
  for (const auto& [name, own] : body["perInstanceProperties"].items()) {
    if (instances_.contains(name)) {
      fail("RESOURCE_ALREADY_EXISTS", fmt::format("The resource '{}' already exists", name));
      break;
    }
  }
  for (const auto& [name, own] : body["perInstanceProperties"].items()) {
    if (operation.error_code == "RESOURCE_ALREADY_EXISTS") break;
    if (gpus_quota && gpus_used() + gpus_of(properties) > *gpus_quota) {
      fail("QUOTA_EXCEEDED", fmt::format("Quota 'GPUS' exceeded. Limit: {}", *gpus_quota));
      break;
    }
    if (capacity && *capacity == 0) {
      fail("ZONE_RESOURCE_POOL_EXHAUSTED", "The zone does not have enough resources available");
      break;
    }
    if (capacity) --*capacity;
    create(name, properties, now);
    made.push_back(name);
  }
  if (made.size() < min) {
    for (const std::string& name : made) {
      instances_[name].status = "STOPPING";
      instances_[name].stopping = now;
      rollbacks_.emplace_back(now + bulk_time, name);
      if (capacity) ++*capacity;
    }
  }
  return operation;
}

FakeOperation* FakeZone::end_by(const std::string& type, const std::string& name, Time now,
                                bool deletes) {
  const auto found = instances_.find(name);
  if (found == instances_.end()) return nullptr;
  FakeInstance& instance = found->second;
  if (instance.status == "TERMINATED" && deletes) {
    FakeOperation& operation = add_operation(type, name, now);
    instances_.erase(found);
    return &operation;
  }
  if (instance.stopping == kNever) {
    instance.stopping = now;
    instance.then_deleted = deletes;
    instance.status = "STOPPING";
    if (capacity) ++*capacity;
  } else {
    instance.then_deleted = instance.then_deleted || deletes;
  }
  return &add_operation(type, name, now);
}

FakeOperation* FakeZone::remove(const std::string& name, Time now) {
  return end_by("delete", name, now, true);
}

FakeOperation* FakeZone::preempt(const std::string& name, Time now) {
  const auto found = instances_.find(name);
  if (found == instances_.end() || found->second.stopping != kNever) return nullptr;
  const Json& scheduling = found->second.properties["scheduling"];
  const bool deletes = scheduling.value("instanceTerminationAction", "STOP") == "DELETE";
  return end_by("compute.instances.preempted", name, now, deletes);
}

const FakeOperation* FakeZone::operation(std::string_view name) const {
  for (const FakeOperation& operation : operations_) {
    if (operation.name == name) return &operation;
  }
  return nullptr;
}

int FakeZone::gpus_of(const Json& properties) const {
  if (!properties.contains("guestAccelerators")) return 0;
  return properties["guestAccelerators"][0]["acceleratorCount"].get<int>();
}

int FakeZone::gpus_used() const {
  int used = 0;
  for (const auto& [name, instance] : instances_) used += gpus_of(instance.properties);
  return used;
}

}  // namespace orrery
