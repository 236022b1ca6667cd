#include "live/daemon/rights/disclosure.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "live/api/job_request_object.h"
#include "live/daemon/policy/job_spec.h"
#include "model/event.h"

namespace orrery {
namespace {

using nlohmann::json;

// Records that say nothing about a job's contents, about nodes' agents or about rights.
constexpr std::array<std::string_view, 7> kForEveryone = {"era",        "term",  "policy",  "round",
                                                          "node-state", "quota", "progress"};

bool is_decision_kind(std::string_view kind) {
  for (int i = static_cast<int>(EventKind::Admitted); i <= static_cast<int>(EventKind::Cancelled);
       ++i) {
    if (to_string(static_cast<EventKind>(i)) == kind) return true;
  }
  return false;
}

std::string without(const std::string& body, std::initializer_list<const char*> keys) {
  json object = json::parse(body, nullptr, false);
  if (!object.is_object()) return "{}";
  for (const char* key : keys) object.erase(key);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string submission(const std::string& body, const Viewer& viewer) {
  json object = json::parse(body, nullptr, false);
  const auto request = object.find("request");
  if (!object.is_object() || request == object.end() || !request->is_object()) return "{}";
  if (!viewer.sees_all()) {
    const auto read = read_job_request(*request);
    if (!read.ok()) return "{}";
    const Detail detail = viewer.detail(read.value());
    if (detail != Detail::Whole) {
      return "{\"request\":" + job_request_json(disclosed(read.value(), detail)) + "}";
    }
  }
  request->erase("environment");
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

bool Viewer::sees_all() const {
  return caller.role == Caller::Role::Operator || caller.role == Caller::Role::Admin;
}

Detail Viewer::detail(std::string_view user, std::string_view tenant) const {
  if (sees_all() || user == caller.name) return Detail::Whole;
  return std::ranges::find(tenants, tenant.empty() ? user : tenant) == tenants.end()
             ? Detail::Outline
             : Detail::Shared;
}

Detail Viewer::detail(const JobRequest& request) const {
  return detail(request.user, request.tenant);
}

JobRequest disclosed(const JobRequest& request, Detail detail) {
  JobRequest shown{.argv = {"-"},
                   .user = request.user,
                   .tenant = request.tenant,
                   .gpus = request.gpus,
                   .gpus_min = request.gpus_min,
                   .gpus_max = request.gpus_max,
                   .cpu_milli = request.cpu_milli,
                   .memory_bytes = request.memory_bytes,
                   .gpu_type = request.gpu_type,
                   .model = request.model,
                   .expected = request.expected,
                   .start_cost = request.start_cost,
                   .deadline = request.deadline,
                   .deadline_is_soft = request.deadline_is_soft,
                   .priority = request.priority,
                   .after = request.after,
                   .retries = request.retries,
                   .process_per_gpu = request.process_per_gpu,
                   .grace = request.grace,
                   .array = request.array,
                   .node_timeout = request.node_timeout,
                   .time_limit = request.time_limit,
                   .speeds = request.speeds,
                   .sensitivity = request.sensitivity};
  if (detail == Detail::Outline) return shown;
  shown.name = request.argv.empty() ? request.name : job_name(request, -1);
  if (detail == Detail::Shared) return shown;
  shown = request;
  shown.environment.clear();
  return shown;
}

std::string disclosed(const Record& record, const Viewer& viewer) {
  if (record.kind == "submitted") return submission(record.body, viewer);
  if (record.kind == "token") return viewer.sees_all() ? without(record.body, {"line"}) : "{}";
  if (viewer.sees_all()) return record.body;
  // The message of an end may name files.
  if (record.kind == "ended") return without(record.body, {"message"});
  if (record.kind == "node") return without(record.body, {"instance", "machine", "boot"});
  if (std::ranges::find(kForEveryone, record.kind) != kForEveryone.end()) return record.body;
  return is_decision_kind(record.kind) || record.kind == "cancel" ? record.body : "{}";
}

}  // namespace orrery
