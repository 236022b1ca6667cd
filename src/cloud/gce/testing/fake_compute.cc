#include "cloud/gce/testing/fake_compute.h"

#include <fmt/format.h>
#include <httplib.h>

#include <thread>

#include "base/invariant.h"
#include "cloud/gce/credentials.h"
#include "cloud/gce/testing/fake_schema.h"
#include "cloud/gce/timestamp.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kProject = "/compute/v1/projects/fake-project/";

FakeReply error(int status, const std::string& reason, const std::string& message) {
  return {.status = status,
          .body = Json{{"error",
                        {{"code", status},
                         {"message", message},
                         {"errors",
                          Json::array({Json{
                              {"domain", "global"}, {"reason", reason}, {"message", message}}})}}}}
                      .dump()};
}

FakeReply not_found(const std::string& what) {
  return error(404, "notFound", fmt::format("The resource '{}' was not found", what));
}

std::string link(const std::string& zone, const std::string& kind, const std::string& name) {
  return fmt::format("https://www.googleapis.com{}zones/{}/{}/{}", kProject, zone, kind, name);
}

Json json_of(const FakeInstance& instance, const std::string& zone) {
  const Json& properties = instance.properties;
  Json value = {
      {"kind", "compute#instance"},
      {"id", std::to_string(instance.id)},
      {"name", instance.name},
      {"zone", fmt::format("https://www.googleapis.com{}zones/{}", kProject, zone)},
      {"machineType", link(zone, "machineTypes", properties["machineType"].get<std::string>())},
      {"status", instance.status},
      {"creationTimestamp", rfc3339_text(instance.created)},
      {"scheduling", properties["scheduling"]},
      {"metadata", properties.value("metadata", Json::object())},
      {"labels", properties.value("labels", Json::object())}};
  const std::int64_t number = instance.id % 250 + 1;
  Json network = {{"networkIP", fmt::format("10.0.0.{}", number)}};
  if (properties["networkInterfaces"][0].contains("accessConfigs")) {
    network["accessConfigs"] = Json::array({Json{{"natIP", fmt::format("203.0.113.{}", number)}}});
  }
  value["networkInterfaces"] = Json::array({network});
  if (instance.started != kNever) value["lastStartTimestamp"] = rfc3339_text(instance.started);
  return value;
}

Json json_of(const FakeOperation& operation, const std::string& zone, Time now) {
  Json value = {{"kind", "compute#operation"},
                {"name", operation.name},
                {"operationType", operation.type},
                {"insertTime", rfc3339_text(operation.begun)},
                {"status", operation.ends <= now ? "DONE" : "RUNNING"}};
  if (!operation.target.empty()) {
    value["targetLink"] = link(zone, "instances", operation.target);
    value["targetId"] = std::to_string(operation.target_id);
  }
  if (operation.ends <= now && !operation.error_code.empty()) {
    Json errors = Json::array();
    if (operation.type == "bulkInsert" && operation.error_code != "RESOURCE_ALREADY_EXISTS") {
      errors.push_back({{"code", "VM_MIN_COUNT_NOT_REACHED"},
                        {"message", "Requested minimum count of VMs could not be created."}});
    }
    errors.push_back({{"code", operation.error_code}, {"message", operation.error_message}});
    value["error"] = {{"errors", errors}};
  }
  return value;
}

// "labels.KEY = "VALUE"" or "(operationType = "A") OR (operationType = "B")".
bool passes(const std::string& filter, const Json& item) {
  if (filter.empty()) return true;
  if (filter.starts_with("labels.")) {
    const std::size_t space = filter.find(" = \"");
    const std::string key = filter.substr(7, space - 7);
    const std::string value = filter.substr(space + 4, filter.size() - space - 5);
    return item.contains("labels") && item["labels"].value(key, "") == value;
  }
  const std::string own = fmt::format("operationType = \"{}\"", item.value("operationType", ""));
  return filter.find(own) != std::string::npos;
}

}  // namespace

struct FakeCompute::Web {
  httplib::Server server;
  int port = 0;
  std::thread thread;
};

FakeCompute::FakeCompute(FakeGceClock& clock) : clock_(clock), web_(std::make_unique<Web>()) {
  const auto serve_web = [this](const httplib::Request& from, httplib::Response& to) {
    Request request{.method = from.method, .path = from.path, .body = from.body};
    for (const auto& [key, value] : from.params) request.query[key] = value;
    const std::string authorization = from.get_header_value("Authorization");
    if (authorization.starts_with("Bearer ")) request.token = authorization.substr(7);
    request.flavor = from.get_header_value("Metadata-Flavor");
    const FakeReply reply = serve(request);
    to.status = reply.status;
    to.set_header("Date", http_date_text(clock_.true_time()));
    if (!reply.retry_after.empty()) to.set_header("Retry-After", reply.retry_after);
    if (reply.lost) {
      to.set_content_provider(std::size_t{1} << 20, "application/json",
                              [](std::size_t, std::size_t, httplib::DataSink&) { return false; });
    } else {
      to.set_content(reply.body, reply.content_type);
    }
  };
  web_->server.set_keep_alive_max_count(1);
  web_->server.set_tcp_nodelay(true);
  web_->server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  web_->server.Get("/.*", serve_web);
  web_->server.Post("/.*", serve_web);
  web_->server.Delete("/.*", serve_web);
  web_->port = web_->server.bind_to_any_port("127.0.0.1");
  INVARIANT(web_->port > 0, "a port of the loopback address is free");
  web_->thread = std::thread([this] { web_->server.listen_after_bind(); });
  while (!web_->server.is_running()) std::this_thread::yield();
}

FakeCompute::~FakeCompute() {
  web_->server.stop();
  web_->thread.join();
}

std::string FakeCompute::url() const { return fmt::format("http://127.0.0.1:{}", web_->port); }

void FakeCompute::inject(FakeFault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

void FakeCompute::clear_faults() {
  const std::lock_guard lock(mutex_);
  faults_.clear();
}

std::size_t FakeCompute::faults_left() {
  const std::lock_guard lock(mutex_);
  return faults_.size();
}

bool FakeCompute::preempt(const std::string& zone, const std::string& name) {
  return in(zone,
            [&](FakeZone& state) { return state.preempt(name, clock_.true_time()) != nullptr; });
}

std::size_t FakeCompute::live_instances() {
  const std::lock_guard lock(mutex_);
  std::size_t live = 0;
  for (auto& [zone, state] : zones_) {
    state.move_to(clock_.true_time());
    for (const auto& [name, instance] : state.instances()) live += instance.stopping == kNever;
  }
  return live;
}

std::vector<std::string> FakeCompute::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

FakeReply FakeCompute::serve(const Request& request) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(request.method + " " + request.path);
  for (auto& [zone, state] : zones_) state.move_to(clock_.true_time());
  for (auto fault = faults_.begin(); fault != faults_.end(); ++fault) {
    if (requests_.back().find(fault->on) == std::string::npos) continue;
    const FakeFault now = *fault;
    if (--fault->times == 0) faults_.erase(fault);
    if (now.kind == FakeFault::Kind::Answer) {
      return {.status = now.status,
              .body = now.body,
              .content_type = now.content_type,
              .retry_after = now.retry_after};
    }
    FakeReply reply = now.kind == FakeFault::Kind::Unheard ? FakeReply() : route(request);
    if (now.kind == FakeFault::Kind::CutReply) reply.body.resize(reply.body.size() / 2);
    reply.lost = now.kind != FakeFault::Kind::CutReply;
    return reply;
  }
  return route(request);
}

FakeReply FakeCompute::route(const Request& request) {
  const Time now = clock_.true_time();
  if (request.path == "/token") {
    const auto [status, body] = tokens_.trade(request.body, token_url(), now);
    return {.status = status, .body = body};
  }
  if (request.path == "/computeMetadata/v1/instance/service-accounts/default/token") {
    if (request.flavor != "Google") return {.status = 403, .body = "Missing Metadata-Flavor"};
    return {.body = tokens_.give(now)};
  }
  if (!tokens_.accepts(request.token, now)) {
    return error(401, "authError", "Invalid Credentials");
  }
  if (request.path == "/compute/v1/projects/debian-cloud/global/images/family/debian-12") {
    return {.body = Json{{"kind", "compute#image"},
                         {"name", "debian-12-v20261110"},
                         {"selfLink",
                          "https://www.googleapis.com/compute/v1/projects/"
                          "debian-cloud/global/images/debian-12-v20261110"}}
                        .dump()};
  }
  const std::string zones = std::string(kProject) + "zones/";
  if (!request.path.starts_with(zones)) return not_found(request.path);
  const std::string rest = request.path.substr(zones.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return not_found(request.path);
  return in_zone(request, rest.substr(0, slash), rest.substr(slash + 1));
}

FakeReply FakeCompute::in_zone(const Request& request, const std::string& zone,
                               const std::string& rest) {
  const auto found = zones_.find(zone);
  if (found == zones_.end()) return not_found("zones/" + zone);
  FakeZone& state = found->second;
  const Time now = clock_.true_time();
  if (request.method != "GET") {
    const auto id = request.query.find("requestId");
    if (id == request.query.end() || !is_uuid(id->second)) {
      return error(400, "invalid", "Invalid value for field 'requestId'");
    }
    if (const auto known = request_ids_.find(id->second); known != request_ids_.end()) {
      const FakeOperation* const operation = state.operation(known->second.second);
      return {.body = json_of(*operation, known->second.first, now).dump()};
    }
    return change(request, zone, state, rest);
  }
  if (rest == "instances") return list(request, zone, state, false);
  if (rest == "operations") return list(request, zone, state, true);
  const std::size_t slash = rest.find('/');
  if (slash == std::string::npos) return not_found(rest);
  const std::string name = rest.substr(slash + 1);
  if (rest.starts_with("operations/")) {
    const FakeOperation* const operation = state.operation(name);
    if (operation == nullptr) return not_found(rest);
    return {.body = json_of(*operation, zone, now).dump()};
  }
  const auto instance = state.instances().find(name);
  if (instance == state.instances().end()) return not_found(rest);
  return {.body = json_of(instance->second, zone).dump()};
}

FakeReply FakeCompute::change(const Request& request, const std::string& zone, FakeZone& state,
                              const std::string& rest) {
  if (request.method == "POST" && rest == "instances/bulkInsert") {
    return bulk_insert(request, zone, state);
  }
  std::string name = rest.substr(rest.find('/') + 1);
  const std::string drill = "/simulateMaintenanceEvent";
  FakeOperation* operation = nullptr;
  const Time now = clock_.true_time();
  if (request.method == "DELETE") {
    operation = state.remove(name, now);
  } else if (name.ends_with(drill)) {
    name.resize(name.size() - drill.size());
    operation = state.preempt(name, now);
  }
  if (operation == nullptr) return not_found(rest);
  request_ids_[request.query.at("requestId")] = {zone, operation->name};
  return {.body = json_of(*operation, zone, now).dump()};
}

FakeReply FakeCompute::bulk_insert(const Request& request, const std::string& zone,
                                   FakeZone& state) {
  const Json body = Json::parse(request.body, nullptr, false);
  if (body.is_discarded()) return error(400, "parseError", "Parse Error");
  if (const std::string fault = bulk_insert_fault(body); !fault.empty()) {
    return error(400, "invalid", fault);
  }
  const int wanted = static_cast<int>(body["perInstanceProperties"].size()) *
                     state.gpus_of(body["instanceProperties"]);
  if (state.quota_by_status && state.gpus_quota && state.gpus_used() + wanted > *state.gpus_quota) {
    return error(403, "quotaExceeded", "Quota 'GPUS' exceeded.");
  }
  const Time now = clock_.true_time();
  const FakeOperation& operation = state.bulk_insert(body, now);
  request_ids_[request.query.at("requestId")] = {zone, operation.name};
  return {.body = json_of(operation, zone, now).dump()};
}

FakeReply FakeCompute::list(const Request& request, const std::string& zone, FakeZone& state,
                            bool operations) {
  const auto word = [&](const char* key) {
    const auto found = request.query.find(key);
    return found == request.query.end() ? std::string() : found->second;
  };
  std::vector<Json> all;
  if (operations) {
    for (const FakeOperation& operation : state.operations()) {
      all.push_back(json_of(operation, zone, clock_.true_time()));
    }
  } else {
    for (const auto& [name, instance] : state.instances()) all.push_back(json_of(instance, zone));
  }
  std::erase_if(all, [&](const Json& item) { return !passes(word("filter"), item); });
  const std::string after = word("pageToken");
  Json value = {{"kind", operations ? "compute#operationList" : "compute#instanceList"},
                {"items", Json::array()}};
  if (padding_ > 0) value["warning"] = {{"message", std::string(padding_, 'x')}};
  const std::size_t items_max = std::min<std::size_t>(
      page_items_, word("maxResults").empty() ? 500 : std::stoul(word("maxResults")));
  std::size_t first = after.empty() ? 0 : std::stoul(after.substr(5));
  while (first < all.size() && value["items"].size() < items_max) {
    value["items"].push_back(all[first++]);
  }
  if (first < all.size()) value["nextPageToken"] = fmt::format("page-{}", first);
  return {.body = value.dump()};
}

}  // namespace orrery
