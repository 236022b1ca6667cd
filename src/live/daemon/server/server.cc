#include "live/daemon/server/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "live/auth/calls.h"
#include "live/daemon/answers/log_readers.h"
#include "live/daemon/answers/queries.h"
#include "live/daemon/answers/question_limit.h"
#include "live/daemon/answers/start_forecasts.h"
#include "live/daemon/answers/submit_warnings.h"
#include "live/daemon/log/event_tail.h"
#include "live/daemon/log/operator_log.h"
#include "live/daemon/log/recovery.h"
#include "live/daemon/rights/rights_queries.h"
#include "live/daemon/server/loop.h"
#include "live/daemon/server/memory.h"

namespace orrery {
namespace {

Viewer viewer_of(const Core& core, const Caller& caller) {
  return {.caller = caller, .tenants = core.book().entitlements().tenants_of(caller)};
}

class LiveServer final : public SchedulerServer {
 public:
  explicit LiveServer(ServerSetup options)
      : options_(std::move(options)),
        gatekeeper_(options_.gatekeeper),
        forecasts_(StartForecasts::make(options_.predict_starts)) {}

  Status begin() {
    TRY_ASSIGN(Recovered found, recover(options_.state + "/orrery.db", options_.core));
    const std::int64_t unix_ns = Clock::unix_ns();
    const std::int64_t era = found.core->book().unix_ns();
    const Clock clock(era == 0 ? unix_ns : era, found.core->book().time());
    TRY(found.core->begin(unix_ns, clock.now()));
    names_groups_ = found.core->book().entitlements().names_groups();
    gatekeeper_.recall(found.core->book().tokens());
    say(fmt::format("term {}: {} jobs of {}, {} nodes, policy {}", found.core->book().term(),
                    found.core->book().jobs().size(), found.core->book().next_number() - 1,
                    found.core->book().nodes().size(), found.core->book().policy().name));
    for (const std::string& note : found.notes) say(note);
    snapshot_at_ = found.store.last();
    tail_.begin(found.store.last(), found.core->book().unix_ns());
    Loop::Options loop;
    loop.on_durable = [this](std::vector<Record> records) { on_durable(std::move(records)); };
    loop.send = [this](std::int64_t to, Orders orders) { send(to, std::move(orders)); };
    loop.on_log = [this](Core& core, const LogPiece& piece) { readers_.heard(core, piece); };
    loop.on_pass = [this](Core& core, Time now) { on_pass(core, now); };
    loop.also_due = [this] { return std::min(waits_until_, readers_.due()); };
    loop.on_failure = [this](const Error& error) { on_error(error); };
    loop_ = std::make_unique<Loop>(std::move(found.core), clock, std::move(found.store),
                                   std::move(loop));
    // Its first pass writes down that a term has begun.
    loop_->post([](Core&, Time) {});
    return {};
  }

  Status stop() override {
    loop_->post([this](Core& core, Time) { snapshot(core); });
    return loop_->close();
  }
  void on_failure(std::function<void(const Error&)> report) override {
    failure_ = std::move(report);
  }

  Result<std::string> metrics(const Caller& caller) override {
    TRY(check(caller, Call::ReadMetrics, ""));
    auto text = std::make_shared<std::promise<std::string>>();
    auto answer = text->get_future();
    loop_->post([this, text](Core& core, Time) {
      LoopFigures figures = loop_->figures();
      figures.resident_bytes = resident_bytes();
      text->set_value(metrics_text(core, figures));
    });
    if (answer.wait_for(std::chrono::seconds(5)) != std::future_status::ready) {
      return std::string();
    }
    return answer.get();
  }

  // ---- Clients

  void submit(const Caller& caller, SubmitRequest request, Reply<SubmitAnswer> reply) override {
    const std::string owner = request.job.user.empty() ? caller.name : request.job.user;
    change<SubmitAnswer>(
        caller, Call::Submit, owner, std::move(reply),
        [caller = with_groups(caller), request = std::move(request),
         expected = options_.core.specs.expected_default](
            Core& core, Time now) mutable -> Result<SubmitAnswer> {
          std::vector<std::string> warnings = submit_warnings(request.job, core.book().nodes(),
                                                              core.book().policy().name, expected);
          TRY_ASSIGN(SubmitAnswer answer, core.accept(caller, std::move(request), now));
          answer.warnings = std::move(warnings);
          return Result<SubmitAnswer>(std::move(answer));
        });
  }
  void status(const Caller& caller, StatusRequest request, Reply<StatusAnswer> reply) override {
    if (!request.predict) {
      return change<StatusAnswer>(
          caller, Call::ShowStatus, "", std::move(reply),
          [caller = with_groups(caller), request = std::move(request)](Core& core, Time now) {
            const Viewer viewer = viewer_of(core, caller);
            return Result<StatusAnswer>(status_of(core, request, viewer, now));
          });
    }
    if (const Status may = check(caller, Call::ShowStatus, ""); !may.ok()) {
      return reply(may.error());
    }
    loop_->post([this, caller = with_groups(caller), request = std::move(request),
                 reply = std::move(reply)](Core& core, Time now) {
      StatusAnswer answer = status_of(core, request, viewer_of(core, caller), now);
      const bool waits = std::ranges::any_of(answer.jobs, [](const JobStatus& job) {
        return job.state == JobState::Pending || job.state == JobState::Paused;
      });
      if (!waits || core.state().waiting() > kForecastMax) {
        return loop_->when_durable([answer = std::move(answer), reply] { reply(answer); });
      }
      std::optional<std::string> situation;
      if (forecasts_->wants_situation(now)) situation = core.snapshot(Duration::zero());
      const double era_s = static_cast<double>(core.book().unix_ns()) / 1e9;
      loop_->when_durable([forecasts = forecasts_, answer = std::move(answer), era_s,
                           situation = std::move(situation),
                           reply] { forecasts->fill(answer, era_s, situation, reply); });
    });
  }
  void cancel(const Caller& caller, CancelRequest request, Reply<CancelAnswer> reply) override {
    change<CancelAnswer>(caller, Call::Cancel, "", std::move(reply),
                         [caller, request = std::move(request)](Core& core, Time now) {
                           return core.cancel(caller, request, now);
                         });
  }
  void nodes(const Caller& caller, Nothing, Reply<NodesAnswer> reply) override {
    change<NodesAnswer>(caller, Call::ShowNodes, "", std::move(reply),
                        [](Core& core, Time) { return Result<NodesAnswer>(nodes_of(core)); });
  }
  void drain(const Caller& caller, DrainRequest request, Reply<Nothing> reply) override {
    change<Nothing>(caller, Call::Drain, "", std::move(reply),
                    [caller, request = std::move(request)](Core& core, Time now) {
                      return nothing(core.drain(caller, request, now));
                    });
  }
  void set_policy(const Caller& caller, PolicyRequest request, Reply<Nothing> reply) override {
    change<Nothing>(caller, Call::SetPolicy, "", std::move(reply),
                    [caller, request = std::move(request)](Core& core, Time now) {
                      return nothing(core.set_policy(caller, request, now));
                    });
  }
  void set_quota(const Caller& caller, QuotaRequest request, Reply<Nothing> reply) override {
    change<Nothing>(caller, Call::SetQuota, "", std::move(reply),
                    [caller, request = std::move(request)](Core& core, Time now) {
                      return nothing(core.set_quota(caller, request, now));
                    });
  }
  void quotas(const Caller& caller, Nothing, Reply<QuotasAnswer> reply) override {
    change<QuotasAnswer>(caller, Call::ShowQuotas, "", std::move(reply),
                         [](Core& core, Time) { return Result<QuotasAnswer>(quotas_of(core)); });
  }
  void set_tenant(const Caller& caller, TenantRequest request, Reply<Nothing> reply) override {
    set_rights(caller, Call::SetTenant, std::move(request), std::move(reply));
  }
  void set_limits(const Caller& caller, LimitsRequest request, Reply<Nothing> reply) override {
    set_rights(caller, Call::SetLimits, std::move(request), std::move(reply));
  }
  void tenants(const Caller& caller, Nothing, Reply<TenantsAnswer> reply) override {
    change<TenantsAnswer>(caller, Call::ShowTenants, "", std::move(reply),
                          [caller = with_groups(caller)](Core& core, Time) {
                            return Result<TenantsAnswer>(tenants_of(core, caller));
                          });
  }
  void limits(const Caller& caller, Nothing, Reply<LimitsAnswer> reply) override {
    change<LimitsAnswer>(caller, Call::ShowLimits, "", std::move(reply),
                         [caller = with_groups(caller)](Core& core, Time) {
                           return Result<LimitsAnswer>(limits_of(core, caller));
                         });
  }
  void situation(const Caller& caller, Nothing, Reply<SituationAnswer> reply) override {
    change<SituationAnswer>(
        caller, Call::AskWhatIf, "", std::move(reply),
        [caller = with_groups(caller)](Core& core, Time) {
          const Viewer viewer = viewer_of(core, caller);
          return Result<SituationAnswer>({.json = core.snapshot(Duration::zero(), &viewer)});
        });
  }
  void what_if(const Caller& caller, WhatIfRequest request, Reply<WhatIfAnswer> reply) override {
    if (const Status may = check(caller, Call::AskWhatIf, ""); !may.ok()) return reply(may.error());
    if (!options_.ask_what_if) {
      return reply(Error{Code::Unimplemented, "this scheduler makes no forecasts"});
    }
    if (request.job) {
      if (request.job->user.empty()) request.job->user = caller.name;
      const Status may = check(caller, Call::Submit, request.job->user);
      if (!may.ok()) return reply(may.error());
    }
    auto place = questions_.enter(caller.name);
    if (!place.ok()) return reply(place.error());
    loop_->post([this, caller = with_groups(caller), request = std::move(request),
                 place = std::move(place).value(), reply = std::move(reply)](Core& core, Time) {
      if (request.job) {
        const Status claimed =
            check_claim(core.book().entitlements(), {.caller = caller, .job = *request.job});
        if (!claimed.ok()) return reply(claimed.error());
      }
      // The thread outlives nothing: it has a copy of all it needs.
      std::thread([ask = options_.ask_what_if, situation = core.snapshot(Duration::zero()), request,
                   place, reply]() mutable {
        auto answer = ask(situation, request);
        place.reset();
        reply(std::move(answer));
      }).detach();
    });
  }
  void make_token(const Caller& caller, TokenRequest request, Reply<TokenAnswer> reply) override {
    change<TokenAnswer>(caller, Call::MakeToken, "", std::move(reply),
                        [this, request = std::move(request)](Core& core, Time now) {
                          return keep(gatekeeper_.make(request), core, now);
                        });
  }
  void tokens(const Caller& caller, TokensRequest request, Reply<TokensAnswer> reply) override {
    change<TokensAnswer>(caller, Call::ManageTokens, "", std::move(reply),
                         [this, request = std::move(request)](Core& core, Time now) {
                           return keep(gatekeeper_.tokens(request), core, now);
                         });
  }
  void certificates(const Caller& caller, CertificatesRequest request,
                    Reply<CertificatesAnswer> reply) override {
    change<CertificatesAnswer>(caller, Call::ManageCertificates, "", std::move(reply),
                               [this, caller, request = std::move(request)](Core& core, Time now) {
                                 return keep(gatekeeper_.certificates(caller, request), core, now);
                               });
  }
  void remove_node(const Caller& caller, RemoveNodeRequest request, Reply<Nothing> reply) override {
    change<Nothing>(
        caller, Call::RemoveNode, "", std::move(reply),
        [this, caller, request = std::move(request)](Core& core, Time now) -> Result<Nothing> {
          TRY(core.remove_node(caller, request, now));
          return keep<Nothing>(
              {.answer = Nothing{},
               .kept = gatekeeper_.revoke_node(request.node, caller.name),
               .note = fmt::format("{} has removed {}", caller.name, request.node)},
              core, now);
        });
  }
  void join(const Caller& caller, JoinRequest request, Reply<JoinAnswer> reply) override {
    loop_->post([this, caller, request = std::move(request), reply = std::move(reply)](Core& core,
                                                                                       Time now) {
      const auto is_live = [&](const std::string& name) {
        const auto node = core.book().find_node(name);
        return node && core.book().node(*node).state == NodeState::Up;
      };
      auto answer = keep(gatekeeper_.join(caller, request, is_live), core, now);
      loop_->when_durable([reply, answer = std::move(answer)] { reply(answer); });
    });
  }
  void logs(const Caller& caller, LogsRequest request, Reply<LogsAnswer> reply) override {
    request.wait = std::clamp(request.wait, Duration::zero(), kWaitMax);
    request.most = std::clamp<std::int64_t>(request.most, 1, kLogBytesMax);
    loop_->post([this, caller, request, reply = std::move(reply)](Core& core, Time now) {
      const auto id = core.book().find(request.id);
      const std::string owner = id ? core.book().job(*id).request->user : "";
      if (const Status may = check(caller, Call::ReadLogs, owner); !may.ok()) {
        return reply(may.error());
      }
      readers_.ask(core, now, request, reply);
    });
  }
  void events(const Caller& caller, EventsRequest request, Reply<EventsAnswer> reply) override {
    const Call call = request.record ? Call::TakeRecord : Call::FollowEvents;
    if (const Status may = check(caller, call, ""); !may.ok()) return reply(may.error());
    request.wait = std::clamp(request.wait, Duration::zero(), kWaitMax);
    request.most = std::clamp<std::int64_t>(request.most, 1, kEventsMax);
    loop_->post([this, caller = with_groups(caller), request, reply = std::move(reply)](Core& core,
                                                                                        Time now) {
      const Viewer viewer = viewer_of(core, caller);
      if (!tail_.serve(request, viewer, reply, loop_->committer())) {
        event_waiters_.push_back(
            {.request = request, .viewer = viewer, .until = now + request.wait, .reply = reply});
        waits_until_ = std::min(waits_until_, now + request.wait);
      }
    });
  }

  // ---- Agents

  std::int64_t connected(const Caller& caller, std::shared_ptr<AgentLink> link) override {
    const std::lock_guard lock(links_mutex_);
    const std::int64_t connection = ++last_connection_;
    links_[connection] = {.caller = caller, .link = std::move(link)};
    return connection;
  }
  void reported(std::int64_t connection, Report report) override {
    Caller caller;
    {
      const std::lock_guard lock(links_mutex_);
      const auto found = links_.find(connection);
      if (found == links_.end()) return;
      caller = found->second.caller;
    }
    if (const Status may = check(caller, Call::Attend, report.offer.name); !may.ok()) {
      const std::string why = fmt::format(
          "its certificate is for {}, and it calls itself {}; give it that --name, or "
          "join under this one",
          caller.name, report.offer.name);
      return send(connection,
                  {.instance = report.instance, .report = report.number, .refused = why});
    }
    loop_->post([connection, report = std::move(report)](Core& core, Time now) {
      core.reported(connection, report, now);
    });
  }
  void gone(std::int64_t connection) override {
    {
      const std::lock_guard lock(links_mutex_);
      links_.erase(connection);
    }
    loop_->post([connection](Core& core, Time) { core.disconnected(connection); });
  }

 private:
  static constexpr Duration kWaitMax = std::chrono::seconds(30);
  static constexpr std::int64_t kLogBytesMax = 1 << 20;
  static constexpr std::int64_t kEventsMax = 10'000;
  // A forecast takes about a second for this many waiting jobs; with more, none is made.
  static constexpr std::int64_t kForecastMax = 20'000;

  struct Linked {
    Caller caller{};
    std::shared_ptr<AgentLink> link{};
  };
  struct EventWaiter {
    EventsRequest request{};
    Viewer viewer{};
    Time until{};
    Reply<EventsAnswer> reply{};
  };

  static Result<Nothing> nothing(const Status& status) {
    if (!status.ok()) return status.error();
    return Nothing{};
  }

  Status check(const Caller& caller, Call call, std::string_view owner) const {
    return check_call({static_cast<Role>(caller.role), caller.name}, call, owner);
  }

  // Groups are looked up on the caller's thread, and only while some tenant's members are given by
  // them.
  Caller with_groups(Caller caller) const {
    if (names_groups_ && options_.groups_of) caller.groups = options_.groups_of(caller.name);
    return caller;
  }

  template <class Request>
  void set_rights(const Caller& caller, Call call, Request request, Reply<Nothing> reply) {
    change<Nothing>(caller, call, "", std::move(reply),
                    [this, by = caller.name, request = std::move(request)](
                        Core& core, Time now) -> Result<Nothing> {
                      TRY_ASSIGN(auto entry, core.book().entitlements().changed(request));
                      entry.by = by;
                      core.set_rights(entry, now);
                      names_groups_ = core.book().entitlements().names_groups();
                      return Nothing{};
                    });
  }

  // What is to be kept goes into the log, so that it is on disk when the answer leaves.
  template <class Answer>
  Result<Answer> keep(Gatekeeper::Done<Answer> done, Core& core, Time now) const {
    for (const TokenKept& kept : done.kept) core.keep_token(kept, now);
    if (!done.note.empty()) say(done.note);
    return std::move(done.answer);
  }

  // Runs `work` on the core and answers once what it wrote is on disk.
  template <class Answer, class Work>
  void change(const Caller& caller, Call call, std::string_view owner, Reply<Answer> reply,
              Work work) {
    if (const Status may = check(caller, call, owner); !may.ok()) return reply(may.error());
    loop_->post([this, reply = std::move(reply), work = std::move(work)](Core& core,
                                                                         Time now) mutable {
      loop_->when_durable([reply = std::move(reply), answer = work(core, now)] { reply(answer); });
    });
  }

  void send(std::int64_t connection, Orders orders) {
    std::shared_ptr<AgentLink> link;
    {
      const std::lock_guard lock(links_mutex_);
      const auto found = links_.find(connection);
      if (found != links_.end()) link = found->second.link;
    }
    if (link != nullptr) link->send(std::move(orders));
  }

  void on_durable(std::vector<Record> records) {
    for (Record& record : records) {
      if (const std::string line = operator_line(record); !line.empty()) say(line);
      tail_.add(std::move(record));
    }
    std::vector<EventWaiter> waiting = std::exchange(event_waiters_, {});
    for (EventWaiter& waiter : waiting) {
      if (!tail_.serve(waiter.request, waiter.viewer, waiter.reply, loop_->committer())) {
        event_waiters_.push_back(std::move(waiter));
      }
    }
  }

  void on_pass(Core& passed, Time now) {
    readers_.pass(passed, now);
    if (loop_ != nullptr &&
        loop_->last_sequence() - snapshot_at_ >= options_.records_between_snapshots) {
      loop_->post([this](Core& core, Time) { snapshot(core); });
      snapshot_at_ = loop_->last_sequence();
    }
    if (waits_until_ > now) return;
    waits_until_ = kNever;
    std::erase_if(event_waiters_, [&](const EventWaiter& waiter) {
      if (waiter.until > now) {
        waits_until_ = std::min(waits_until_, waiter.until);
        return false;
      }
      waiter.reply(EventsAnswer{.next = waiter.request.from});
      return true;
    });
  }

  // The snapshot is put when all it covers is in the log.
  void snapshot(Core& core) {
    loop_->write_down();
    auto bytes = std::make_shared<std::string>(core.snapshot(options_.keep_finished));
    loop_->when_durable([this, covers = loop_->last_sequence(), bytes] {
      const Status status = loop_->committer().with_store([&](Store& store) -> Status {
        TRY(store.put_snapshot(covers, *bytes));
        const auto compacted = store.compact(2, 100'000);
        return compacted.ok() ? Status() : Status(compacted.error());
      });
      if (!status.ok()) say("no snapshot: " + status.error().message);
    });
  }

  void on_error(const Error& error) {
    say("the log cannot be written: " + error.message);
    if (failure_) failure_(error);
  }
  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  ServerSetup options_;
  Gatekeeper gatekeeper_;
  const std::shared_ptr<StartForecasts> forecasts_;
  QuestionLimit questions_{};
  EventTail tail_;
  std::mutex links_mutex_;
  std::map<std::int64_t, Linked> links_;
  std::int64_t last_connection_ = 0;
  LogReaders readers_;
  std::vector<EventWaiter> event_waiters_;
  std::int64_t snapshot_at_ = 0;
  std::atomic<bool> names_groups_{false};  // some member of a tenant is a group
  Time waits_until_ = kNever;
  std::function<void(const Error&)> failure_;
  std::unique_ptr<Loop> loop_;  // last: its thread uses the rest
};

}  // namespace

Result<std::unique_ptr<SchedulerServer>> SchedulerServer::start(ServerSetup options) {
  auto server = std::make_unique<LiveServer>(std::move(options));
  TRY(server->begin());
  return std::unique_ptr<SchedulerServer>(std::move(server));
}

}  // namespace orrery
