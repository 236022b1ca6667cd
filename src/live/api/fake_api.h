#pragma once

#include <any>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "live/api/agent_link.h"
#include "live/api/api.h"

namespace orrery {

// Records each request and answers as set: at once by answers[name], which is an Error or the
// answer of that call; or later, if `hold` is set, when the test runs what is in `held`.
class FakeApi final : public Api {
 public:
  struct Asked {
    std::string call{};
    Caller caller{};
    std::any request{};
  };

  std::map<std::string, std::any> answers{};
  bool hold = false;

  std::deque<Asked> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  // Waits until `count` calls are held, and takes them.
  std::deque<std::function<void()>> take_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
    return std::exchange(held_, {});
  }

  void submit(const Caller& c, SubmitRequest r, Reply<SubmitAnswer> f) override {
    answer("submit", c, r, f);
  }
  void status(const Caller& c, StatusRequest r, Reply<StatusAnswer> f) override {
    answer("status", c, r, f);
  }
  void cancel(const Caller& c, CancelRequest r, Reply<CancelAnswer> f) override {
    answer("cancel", c, r, f);
  }
  void logs(const Caller& c, LogsRequest r, Reply<LogsAnswer> f) override {
    answer("logs", c, r, f);
  }
  void nodes(const Caller& c, Nothing r, Reply<NodesAnswer> f) override {
    answer("nodes", c, r, f);
  }
  void drain(const Caller& c, DrainRequest r, Reply<Nothing> f) override {
    answer("drain", c, r, f);
  }
  void set_policy(const Caller& c, PolicyRequest r, Reply<Nothing> f) override {
    answer("set_policy", c, r, f);
  }
  void set_quota(const Caller& c, QuotaRequest r, Reply<Nothing> f) override {
    answer("set_quota", c, r, f);
  }
  void quotas(const Caller& c, Nothing r, Reply<QuotasAnswer> f) override {
    answer("quotas", c, r, f);
  }
  void set_tenant(const Caller& c, TenantRequest r, Reply<Nothing> f) override {
    answer("set_tenant", c, r, f);
  }
  void tenants(const Caller& c, Nothing r, Reply<TenantsAnswer> f) override {
    answer("tenants", c, r, f);
  }
  void set_limits(const Caller& c, LimitsRequest r, Reply<Nothing> f) override {
    answer("set_limits", c, r, f);
  }
  void limits(const Caller& c, Nothing r, Reply<LimitsAnswer> f) override {
    answer("limits", c, r, f);
  }
  void events(const Caller& c, EventsRequest r, Reply<EventsAnswer> f) override {
    answer("events", c, r, f);
  }
  void what_if(const Caller& c, WhatIfRequest r, Reply<WhatIfAnswer> f) override {
    answer("what_if", c, r, f);
  }
  void situation(const Caller& c, Nothing r, Reply<SituationAnswer> f) override {
    answer("situation", c, r, f);
  }
  void make_token(const Caller& c, TokenRequest r, Reply<TokenAnswer> f) override {
    answer("make_token", c, r, f);
  }
  void tokens(const Caller& c, TokensRequest r, Reply<TokensAnswer> f) override {
    answer("tokens", c, r, f);
  }
  void certificates(const Caller& c, CertificatesRequest r, Reply<CertificatesAnswer> f) override {
    answer("certificates", c, r, f);
  }
  void remove_node(const Caller& c, RemoveNodeRequest r, Reply<Nothing> f) override {
    answer("remove_node", c, r, f);
  }
  void join(const Caller& c, JoinRequest r, Reply<JoinAnswer> f) override {
    answer("join", c, r, f);
  }

 private:
  template <class Request, class Answer>
  void answer(const char* call, const Caller& caller, const Request& request,
              const Reply<Answer>& reply) {
    const std::any set = answers.contains(call) ? answers.at(call) : std::any(Answer{});
    const auto* const error = std::any_cast<Error>(&set);
    Result<Answer> result = error ? Result<Answer>(*error) : std::any_cast<Answer>(set);
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back({call, caller, request});
      if (hold) held_.push_back([reply, result] { reply(result); });
      changed_.notify_all();
    }
    if (!hold) reply(std::move(result));
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<Asked> asked_{};
  std::deque<std::function<void()>> held_{};
};

}  // namespace orrery
