#include "rights/transports.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/invariant.h"
#include "live/codec/api_fields.h"

namespace orrery {
namespace {

// Collects every text of an answer.
struct Texts {
  std::string all{};

  template <class Value>
  void operator()(const char* /*name*/, const Value& value, Range /*bounds*/ = {}) {
    add(value);
  }
  void add(const std::string& text) { all += text + '\n'; }
  void add(const std::map<std::string, std::string>& values) {
    for (const auto& [key, value] : values) all += key + '=' + value + '\n';
  }
  template <class Value>
  void add(const std::optional<Value>& value) {
    if (value) add(*value);
  }
  template <class Value>
  void add(const std::vector<Value>& values) {
    for (const Value& value : values) add(value);
  }
  template <class Value>
  void add(const Value& value) {
    if constexpr (std::is_class_v<Value> && !std::is_same_v<Value, Duration>) fields(*this, value);
  }
};

template <class Answer>
Outcome outcome(const Result<Answer>& answer) {
  if (!answer.ok()) return {.error = answer.error()};
  Texts texts;
  texts.add(answer.value());
  return {.text = texts.all};
}
Outcome outcome(const Status& status) {
  if (!status.ok()) return {.error = status.error()};
  return {};
}

// A list that leaves the owner's row out denies it.
Outcome listed(Outcome outcome, const std::string& row) {
  if (!outcome.error && outcome.text.find(row) == std::string::npos) {
    outcome.error = Error{Code::PermissionDenied, row + " is not listed"};
  }
  return outcome;
}

Outcome attend(TestScheduler& scheduler, const Identity& caller, const std::string& node) {
  const Result<Orders> orders = scheduler.attend(caller, node);
  if (!orders.ok()) return {.error = orders.error()};
  if (orders.value().refused.empty()) return {};
  return {.error = Error{Code::PermissionDenied, orders.value().refused}};
}

// A switch without a default: a new call does not compile until it stands here.
Outcome ask_client(TestScheduler& scheduler, Client& client, const Identity& caller,
                   Transport transport, const Question& question) {
  constexpr Outcome (*of)(const Status&) = outcome;
  const bool grpc = transport == Transport::Grpc;
  const Outcome not_carried{.carried = false};
  switch (question.call) {
    case Call::Submit:
      return outcome(client.submit({.job = {.argv = {"true"}, .user = question.owner}}));
    case Call::ShowStatus:
      return outcome(client.status({.ids = {question.job}}));
    case Call::Cancel:
      return outcome(client.cancel({.ids = {question.job}}));
    case Call::ReadLogs:
      return outcome(client.logs({.id = question.job}));
    case Call::ShowNodes:
      return outcome(client.nodes());
    case Call::Drain:
      return of(client.drain({.node = "none"}));
    case Call::FollowEvents:
      return outcome(client.events({}));
    case Call::AskWhatIf: {
      Outcome asked = outcome(client.what_if({.nodes_more = 0}));
      const Outcome situation = outcome(client.situation());
      if (asked.denied() != situation.denied()) {
        return {.error = Error{Code::Internal, "whatif and situation differ"}};
      }
      asked.text += situation.text;
      return asked;
    }
    case Call::SetPolicy:
      return of(client.set_policy({.policy = "fifo"}));
    case Call::ShowQuotas:
      return outcome(client.quotas());
    case Call::SetQuota:
      return of(client.set_quota({.tenant = "none"}));
    case Call::ShowTenants:
      return listed(outcome(client.tenants()), "of-" + question.owner);
    case Call::SetTenant:
      return of(client.set_tenant({.tenant = "none", .add = {"ann"}}));
    case Call::ShowLimits:
      return listed(outcome(client.limits()), "of-" + question.owner);
    case Call::SetLimits:
      return of(client.set_limits({.name = "none", .limits = {.priority = 0}}));
    case Call::TakeRecord:
      return outcome(client.events({.record = true}));
    case Call::ReadMetrics:
      return not_carried;
    case Call::Attend:
      return grpc ? attend(scheduler, caller, question.owner) : not_carried;
    case Call::MakeToken:
      return outcome(client.make_token({.name = "node9"}));
    case Call::ManageTokens:
      return outcome(client.tokens({}));
    case Call::ManageCertificates:
      return outcome(client.certificates({}));
    case Call::RemoveNode:
      return of(client.remove_node({.node = "none"}));
    case Call::Join:
      return grpc ? outcome(client.join({.name = question.owner})) : not_carried;
  }
  INVARIANT(false, "every call stands above");
  return not_carried;
}

struct RestForm {
  std::string method{};  // empty: REST does not have the call
  std::string path{};
  std::string body{};
};

RestForm rest_form(const Question& question) {
  const std::string job = fmt::format("/v1/jobs/{}", question.job);
  switch (question.call) {
    case Call::Submit:
      return {"POST", "/v1/jobs",
              fmt::format(R"({{"job":{{"argv":["true"],"user":"{}"}}}})", question.owner)};
    case Call::ShowStatus:
      return {"GET", job};
    case Call::Cancel:
      return {"DELETE", job};
    case Call::ReadLogs:
      return {"GET", job + "/logs"};
    case Call::ShowNodes:
      return {"GET", "/v1/nodes"};
    case Call::Drain:
      return {"POST", "/v1/nodes/none/drain", "{}"};
    case Call::FollowEvents:
      return {"GET", "/v1/events"};
    case Call::AskWhatIf:
      return {"POST", "/v1/whatif", "{}"};
    case Call::SetPolicy:
      return {"PUT", "/v1/policy", R"({"policy":"fifo"})"};
    case Call::ShowQuotas:
      return {"GET", "/v1/quotas"};
    case Call::SetQuota:
      return {"PUT", "/v1/quotas", R"({"tenant":"none"})"};
    case Call::ShowTenants:
      return {"GET", "/v1/tenants"};
    case Call::SetTenant:
      return {"PUT", "/v1/tenants", R"({"tenant":"none","add":["ann"]})"};
    case Call::ShowLimits:
      return {"GET", "/v1/limits"};
    case Call::SetLimits:
      return {"PUT", "/v1/limits", R"({"name":"none","limits":{"priority":0}})"};
    case Call::TakeRecord:
      return {"GET", "/v1/events?record=true"};
    case Call::ReadMetrics:
      return {"GET", "/metrics"};
    case Call::MakeToken:
      return {"POST", "/v1/tokens", R"({"name":"node9"})"};
    case Call::ManageTokens:
      return {"GET", "/v1/tokens"};
    case Call::ManageCertificates:
      return {"GET", "/v1/certificates"};
    case Call::RemoveNode:
      return {"DELETE", "/v1/nodes/none"};
    case Call::Join:
      return {"POST", "/v1/join", "{}"};
    case Call::Attend:
      return {};
  }
  INVARIANT(false, "every call stands above");
  return {};
}

Outcome ask_rest(TestScheduler& scheduler, const Identity& caller, const Question& question) {
  const RestForm form = rest_form(question);
  if (form.method.empty()) return {.carried = false};
  const auto reply = scheduler.by_rest(caller, form.method, form.path, form.body);
  if (reply.status == 200) {
    const bool list = question.call == Call::ShowTenants || question.call == Call::ShowLimits;
    return list ? listed({.text = reply.body}, "of-" + question.owner)
                : Outcome{.text = reply.body};
  }
  const Code code = reply.status == 403   ? Code::PermissionDenied
                    : reply.status == 401 ? Code::Unauthenticated
                                          : Code::InvalidArgument;
  return {.error = Error{code, reply.body}};
}

}  // namespace

const char* to_string(Transport transport) {
  return transport == Transport::Socket ? "socket" : transport == Transport::Grpc ? "gRPC" : "REST";
}

Outcome ask(TestScheduler& scheduler, Transport transport, const Identity& caller,
            const Question& question) {
  if (transport == Transport::Rest) return ask_rest(scheduler, caller, question);
  const auto client =
      transport == Transport::Socket ? scheduler.by_socket(caller) : scheduler.by_grpc(caller);
  return ask_client(scheduler, *client, caller, transport, question);
}

}  // namespace orrery
