#include "cloud/gce/compute_api.h"

#include <fmt/format.h>

#include <set>

#include "cloud/gce/faults.h"

namespace orrery {
namespace {

constexpr std::string_view kRoot = "/compute/v1/projects/";
constexpr int kPageItems = 200;

Status status_of_outcome(GceOutcome outcome) {
  if (outcome.error) return *std::move(outcome.error);
  return {};
}

}  // namespace

std::string ComputeApi::zone_path(std::string_view zone) const {
  return fmt::format("{}{}/zones/{}", kRoot, percent_encoded(project_), percent_encoded(zone));
}

Result<std::string> ComputeApi::fetch(const std::string& path, std::string_view kind) {
  GceOutcome outcome = session_->ask({.path = path}, kind);
  if (outcome.error) return *std::move(outcome.error);
  return std::move(outcome.body);
}

template <class Item, class Read>
Result<std::vector<Item>> ComputeApi::read_pages(const std::string& path, std::string_view filter,
                                                 std::string_view kind, Read read) {
  std::string query = fmt::format("?maxResults={}", kPageItems);
  if (!filter.empty()) query += "&filter=" + percent_encoded(filter);
  std::vector<Item> items;
  std::set<std::string> read_tokens;
  std::string next;
  do {
    const std::string page_query =
        next.empty() ? query : query + "&pageToken=" + percent_encoded(next);
    TRY_ASSIGN(const std::string body, fetch(path + page_query, kind));
    TRY_ASSIGN(GcePage<Item> page, read(body));
    for (Item& item : page.items) items.push_back(std::move(item));
    next = page.next;
    if (!next.empty() && !read_tokens.insert(next).second) {
      return Error{Code::Unavailable, "the pages of a list form a circle; try again later"};
    }
  } while (!next.empty());
  return items;
}

Result<std::vector<GceInstance>> ComputeApi::instances(std::string_view zone,
                                                       std::string_view filter) {
  return read_pages<GceInstance>(zone_path(zone) + "/instances", filter, "compute#instanceList",
                                 read_instances);
}

Result<GceInstance> ComputeApi::instance(std::string_view zone, std::string_view name) {
  TRY_ASSIGN(const std::string body,
             fetch(zone_path(zone) + "/instances/" + percent_encoded(name), "compute#instance"));
  return read_instance(body);
}

Result<std::vector<GceOperation>> ComputeApi::operations(std::string_view zone,
                                                         std::string_view filter) {
  return read_pages<GceOperation>(zone_path(zone) + "/operations", filter, "compute#operationList",
                                  read_operations);
}

Result<GceOperation> ComputeApi::operation(std::string_view zone, std::string_view name) {
  TRY_ASSIGN(const std::string body,
             fetch(zone_path(zone) + "/operations/" + percent_encoded(name), "compute#operation"));
  return operation_in(body);
}

Result<GceOperation> ComputeApi::operation_in(std::string_view body) const {
  TRY_ASSIGN(GceOperation operation, read_operation(body));
  operation.name = session_->secrets().clean(operation.name);
  for (GceFault& fault : operation.faults) fault = without_secrets(fault, session_->secrets());
  return operation;
}

Result<std::string> ComputeApi::image_link(std::string_view image) {
  const std::string path =
      image.starts_with("projects/")
          ? fmt::format("/compute/v1/{}", image)
          : fmt::format("{}{}/global/images/{}", kRoot, percent_encoded(project_), image);
  TRY_ASSIGN(const std::string body, fetch(path, "compute#image"));
  return read_image_link(body);
}

GceOutcome ComputeApi::bulk_insert(std::string_view zone, std::string body,
                                   std::string_view request_id, GceOperation& operation) {
  GceOutcome outcome = session_->ask(
      {.method = "POST",
       .path = fmt::format("{}/instances/bulkInsert?requestId={}", zone_path(zone), request_id),
       .body = std::move(body)},
      "compute#operation");
  if (outcome.error) return outcome;
  auto read = operation_in(outcome.body);
  if (read.ok()) {
    operation = std::move(read).value();
  } else {
    outcome.error = std::move(read).error();
    outcome.perhaps_done = true;
  }
  return outcome;
}

Status ComputeApi::remove(std::string_view zone, std::string_view name,
                          std::string_view request_id) {
  return status_of_outcome(
      session_->ask({.method = "DELETE",
                     .path = fmt::format("{}/instances/{}?requestId={}", zone_path(zone),
                                         percent_encoded(name), request_id)},
                    "compute#operation"));
}

Status ComputeApi::rehearse_preemption(std::string_view zone, std::string_view name,
                                       std::string_view request_id) {
  return status_of_outcome(
      session_->ask({.method = "POST",
                     .path = fmt::format("{}/instances/{}/simulateMaintenanceEvent?requestId={}",
                                         zone_path(zone), percent_encoded(name), request_id)},
                    "compute#operation"));
}

}  // namespace orrery
