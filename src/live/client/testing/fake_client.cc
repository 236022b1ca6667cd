#include "live/client/testing/fake_client.h"

#include <memory>
#include <type_traits>

namespace orrery {
namespace {

class FakeClient final : public Client {
 public:
  explicit FakeClient(const ClientScript& script) : script_(script) {}

  Result<SubmitAnswer> submit(const SubmitRequest& r) override { return say(script_.submit, r); }
  Result<StatusAnswer> status(const StatusRequest& r) override { return say(script_.status, r); }
  Result<CancelAnswer> cancel(const CancelRequest& r) override { return say(script_.cancel, r); }
  Result<LogsAnswer> logs(const LogsRequest& r) override { return say(script_.logs, r); }
  Result<NodesAnswer> nodes() override { return say(script_.nodes); }
  Status drain(const DrainRequest& r) override { return say(script_.drain, r); }
  Status set_policy(const PolicyRequest& r) override { return say(script_.set_policy, r); }
  Status set_quota(const QuotaRequest& r) override { return say(script_.set_quota, r); }
  Result<QuotasAnswer> quotas() override { return say(script_.quotas); }
  Status set_tenant(const TenantRequest& r) override { return say(script_.set_tenant, r); }
  Result<TenantsAnswer> tenants() override { return say(script_.tenants); }
  Status set_limits(const LimitsRequest& r) override { return say(script_.set_limits, r); }
  Result<LimitsAnswer> limits() override { return say(script_.limits); }
  Result<EventsAnswer> events(const EventsRequest& r) override { return say(script_.events, r); }
  Result<WhatIfAnswer> what_if(const WhatIfRequest& r) override { return say(script_.what_if, r); }
  Result<SituationAnswer> situation() override { return unexpected(); }
  Result<TokenAnswer> make_token(const TokenRequest& r) override {
    return say(script_.make_token, r);
  }
  Result<TokensAnswer> tokens(const TokensRequest& r) override { return say(script_.tokens, r); }
  Result<CertificatesAnswer> certificates(const CertificatesRequest& r) override {
    return say(script_.certificates, r);
  }
  Status remove_node(const RemoveNodeRequest& r) override { return say(script_.remove_node, r); }
  Result<JoinAnswer> join(const JoinRequest& /*request*/) override { return unexpected(); }

 private:
  static Error unexpected() { return {Code::Internal, "a call that was not expected"}; }

  template <class Answer, class... Request>
  static Answer say(const std::function<Answer(Request...)>& answer,
                    const std::type_identity_t<Request>&... request) {
    return answer ? answer(request...) : Answer(unexpected());
  }

  const ClientScript& script_;
};

}  // namespace

FakeCommandContext::FakeCommandContext() {
  context.connect = [this](const Endpoint& endpoint) -> Result<std::unique_ptr<Client>> {
    reached = endpoint;
    return std::unique_ptr<Client>(std::make_unique<FakeClient>(script));
  };
  context.directory = "/home/ann/work";
  context.environment = {{"HOME", "/home/ann"}, {"USER", "ann"}, {"SECRET", "hush"}};
  context.host = "node7";
  context.print = [this](std::string_view text) {
    out += text;
    return Status();
  };
  context.print_error = [](std::string_view) {};
  context.read_input = [this]() -> Result<std::string> { return input; };
  context.clock = [this] { return now; };
  context.now_s = [this] { return 1'800'000'000 + seconds(now); };
  context.pause = [this](Duration duration) {
    pauses.push_back(duration);
    now += duration;
  };
  context.catch_interrupts = [this] { catches = true; };
  context.interrupted = [this] { return catches && interrupt_at && now >= *interrupt_at; };
  context.random_key = [this] { return "key" + std::to_string(++keys); };
  script.events = [this](const EventsRequest& request) -> Result<EventsAnswer> {
    ++events_calls;
    now += request.wait;
    return EventsAnswer{.next = 1};
  };
}

}  // namespace orrery
