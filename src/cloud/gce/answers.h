#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// What Compute Engine answers, as values. The readers take any bytes. An answer that is not JSON of
// the expected kind is Unavailable, since a proxy or a broken connection made it.

// One fault, of an answer or of an operation: "QUOTA_EXCEEDED", "rateLimitExceeded".
struct GceFault {
  std::string code{};
  std::string message{};
};

// The body of an answer that is an error. `code` is empty where it has no reason.
GceFault read_fault(std::string_view body);

struct GceOperation {
  std::string name{};
  std::string type{};    // "bulkInsert", "delete", "compute.instances.preempted"
  std::string target{};  // the last part of targetLink
  std::string target_id{};
  bool done = false;
  std::vector<GceFault> faults{};
  Time begun = kNever;
};

enum class GceStatus : std::uint8_t {
  Pending,  // flex-start: waits for capacity
  Provisioning,
  Staging,
  Running,
  Stopping,   // also suspending and deprovisioning
  Stopped,    // also terminated and suspended
  Repairing,  // also a word that this program does not know
};

struct GceInstance {
  std::string name{};
  std::string id{};
  std::string zone{};
  std::string machine_type{};
  std::string provisioning{};  // "SPOT", "STANDARD", "FLEX_START"
  GceStatus status = GceStatus::Repairing;
  std::string address{};  // the external one if there is one, else the internal one
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> metadata{};
  Time created = kNever;
  Time started = kNever;
};

template <class Item>
struct GcePage {
  std::vector<Item> items{};
  std::string next{};  // the token of the next page; empty: this is the last
};

Result<GceOperation> read_operation(std::string_view body);
Result<GcePage<GceOperation>> read_operations(std::string_view body);
Result<GceInstance> read_instance(std::string_view body);
Result<GcePage<GceInstance>> read_instances(std::string_view body);
Result<std::string> read_image_link(std::string_view body);

// The answer of a token endpoint or of the metadata server.
struct GceToken {
  std::string text{};
  Duration life{};
};
Result<GceToken> read_access_token(std::string_view body);

// The "kind" of a JSON object; nothing if it is no JSON object.
std::optional<std::string> kind_of(std::string_view body);

}  // namespace orrery
