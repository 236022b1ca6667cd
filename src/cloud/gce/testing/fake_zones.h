#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/time.h"

namespace orrery {

struct FakeInstance {
  std::string name{};
  std::int64_t id = 0;
  nlohmann::json properties{};  // as they were asked for
  std::string status = "PROVISIONING";
  Time created{};
  Time started = kNever;
  Time stopping = kNever;
  bool then_deleted = true;
};

struct FakeOperation {
  std::string name{};
  std::string type{};
  std::string target{};
  std::int64_t target_id = 0;
  Time begun{};
  Time ends{};  // kNever: it never ends
  std::string error_code{};
  std::string error_message{};
};

// The instances and operations of one zone, moved forward by time: 2 s PROVISIONING, 40 s STAGING,
// RUNNING, and 30 s STOPPING.
class FakeZone {
 public:
  std::optional<int> capacity{};    // how many more instances can be had
  std::optional<int> gpus_quota{};  // how many GPUs may be there at once
  bool quota_by_status = false;     // True if the call itself is refused for the quota
  bool operations_end = true;
  Duration bulk_time = std::chrono::seconds(2);
  Duration flex_wait = std::chrono::seconds(60);

  // All transitions that are due at `now`.
  void move_to(Time now);
  FakeOperation& bulk_insert(const nlohmann::json& body, Time now);
  FakeOperation* remove(const std::string& name, Time now);
  // Nothing if there is no such instance, or if it is stopping already.
  FakeOperation* preempt(const std::string& name, Time now);
  // Ends it with an operation of this type, as the service itself does.
  FakeOperation* end_by(const std::string& type, const std::string& name, Time now, bool deletes);

  const std::map<std::string, FakeInstance>& instances() const { return instances_; }
  const std::vector<FakeOperation>& operations() const { return operations_; }
  const FakeOperation* operation(std::string_view name) const;
  int gpus_of(const nlohmann::json& properties) const;
  int gpus_used() const;
  int most_of_one_name() const { return most_of_one_name_; }

 private:
  FakeOperation& add_operation(const std::string& type, const std::string& target, Time now);
  void create(const std::string& name, const nlohmann::json& properties, Time now);

  std::map<std::string, FakeInstance> instances_;
  std::map<std::string, int> times_made_;
  std::vector<FakeOperation> operations_;
  std::vector<std::pair<Time, std::string>> rollbacks_;
  std::int64_t next_id_ = 4000000000000000000;
  int most_of_one_name_ = 0;
};

}  // namespace orrery
