#include "cloud/training_model/transient_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "cloud/decisions/checkpoints.h"
#include "cloud/training_model/training_members.h"

namespace orrery {
namespace {

constexpr auto kChiefLosses = std::to_array<std::string_view>({"take-over", "restart", "stop"});

// An offer without capacity is not asked for again before this.
constexpr std::chrono::minutes kBackOff(5);

class TrainingRun {
 public:
  TrainingRun(const TransientTraining& training, DiscreteEventProvider& provider)
      : training_(training),
        provider_(provider),
        members_(training),
        began_(provider.now()),
        retry_at_(provider.now()) {}

  Result<TransientOutcome> run() {
    while (outcome_.end.empty()) {
      const Time now = provider_.now();
      if (now >= retry_at_) TRY(ask_for_missing());
      if (!outcome_.end.empty()) break;
      if (training_.chief_loss == ChiefLoss::TakeOver) members_.elect_chief(now);
      save_if_due(now);
      const double speed = members_.speed(now, now < save_ends_);
      if (speed > 0 && first_step_ == kNever) start(now);
      const Time next = next_instant(now, speed);
      steps_ += speed * seconds(next - now);
      provider_.advance(next);
      if (speed > 0 && steps_ >= training_.steps - kStepsRounding) finish("completed");
      TRY(take_events());
      if (outcome_.end.empty() && next >= began_ + training_.horizon) finish("horizon");
    }
    return outcome_;
  }

 private:
  static constexpr double kStepsRounding = 1e-6;

  struct Missing {
    Offer offer;
    bool is_server = false;
    bool is_chief = false;
  };

  void start(Time now) {
    first_step_ = now;
    outcome_.wait_s = seconds(now - began_);
    plan_checkpoint(now);
  }

  // The next instant at which anything may change.
  Time next_instant(Time now, double speed) const {
    Time next = std::min(provider_.next_event(), began_ + training_.horizon);
    next = std::min(next, members_.next_join(now));
    if (retry_at_ > now) next = std::min(next, retry_at_);
    if (save_ends_ > now) next = std::min(next, save_ends_);
    if (checkpoint_at_ > now && speed > 0) next = std::min(next, checkpoint_at_);
    if (speed > 0) {
      const double left_s = std::max(0.0, training_.steps - steps_) / speed;
      // Rounded up, so that the last step is done then. An end that no clock reaches is none.
      if (left_s < seconds(next - now)) {
        next = std::min(next, now + from_seconds(left_s) + Duration(1));
      }
    }
    return std::max(next, now);
  }

  Status take_events() {
    TRY_ASSIGN(const std::vector<ServerEvent> events, provider_.events_after(sequence_));
    for (const ServerEvent& event : events) {
      sequence_ = event.sequence;
      TrainingMember* member = members_.find(event.server);
      if (member == nullptr || !outcome_.end.empty()) continue;
      take(event, *member);
    }
    return {};
  }

  void take(const ServerEvent& event, TrainingMember& member) {
    if (event.kind == ServerEvent::Kind::Requested) return;
    const Status applied = apply(member.server, event);
    INVARIANT(applied.ok(), "the provider keeps the order of events");
    if (event.kind == ServerEvent::Kind::Running) member.joins = event.at + training_.join;
    if (event.kind == ServerEvent::Kind::Notice) on_notice(member);
    if (member.gone()) on_end(member);
  }

  // A replacement that is asked for now comes up while the server still works.
  void on_notice(const TrainingMember& member) {
    const Time now = member.server.noticed;
    const Duration save = training_.checkpoints.save;
    if (members_.holds_state(member) && training_.checkpoints.on_notice &&
        save > Duration::zero() && members_.trains(now) &&
        saves_on_notice(save, Duration{}, member.server.deadline - now, now - saved_at_)) {
      begin_save(now);
    }
    lose(member);
  }

  void on_end(TrainingMember& member) {
    const bool was_chief = std::exchange(member.is_chief, false);
    const bool worked = member.joins != kNever;
    if (was_chief && training_.chief_loss == ChiefLoss::Stop) return finish("chief-lost");
    if (was_chief) end_save();
    if (!member.leaves()) lose(member, was_chief);
    const bool lost_state = member.is_server || training_.parameter_servers.empty() ||
                            (was_chief && training_.chief_loss == ChiefLoss::Restart);
    if (worked && lost_state) roll_back();
    if (!members_.has_worker() && missing_.empty()) finish("no-workers");
  }

  // A chief is replaced as such only if no worker may take over. It and parameter servers are
  // replaced under every rule.
  void lose(const TrainingMember& member, bool was_chief = false) {
    ++outcome_.losses;
    const bool as_chief =
        (member.is_chief || was_chief) && training_.chief_loss == ChiefLoss::Restart;
    const bool must = member.is_server || as_chief;
    if (training_.replacement == ReplacementRule::GoOn && !must) return;
    missing_.push_back(
        {.offer = member.server.spec.offer, .is_server = member.is_server, .is_chief = as_chief});
    retry_at_ = provider_.now();
  }

  void roll_back() {
    const double lost = steps_ - saved_steps_;
    ++outcome_.roll_backs;
    outcome_.steps_lost += lost;
    steps_ = saved_steps_;
    end_save();
  }

  // What is being saved is not complete.
  void end_save() {
    if (save_steps_ < 0) return;
    save_steps_ = -1;
    save_ends_ = Time{};
    plan_checkpoint(provider_.now());
  }

  void plan_checkpoint(Time now) {
    const CheckpointRule& rule = training_.checkpoints;
    if (rule.save <= Duration::zero()) return;
    const Duration interval =
        rule.every ? *rule.every : checkpoint_interval(rule.save, members_.state_hazard_per_h(now));
    checkpoint_at_ = interval >= kNever - now ? kNever : now + interval;
  }

  void save_if_due(Time now) {
    if (save_steps_ >= 0 && save_ends_ <= now) {
      saved_steps_ = save_steps_;
      saved_at_ = now;
      save_steps_ = -1;
      save_ends_ = Time{};
      ++outcome_.checkpoints;
      plan_checkpoint(now);
    }
    if (checkpoint_at_ <= now && members_.trains(now)) begin_save(now);
  }

  void begin_save(Time now) {
    save_steps_ = steps_;
    save_ends_ = now + training_.checkpoints.save;
    checkpoint_at_ = kNever;
  }

  Status ask_for_missing() {
    retry_at_ = kNever;
    if (!asked_) return ask_for_cluster();
    std::vector<Missing> still;
    for (const Missing& missing : std::exchange(missing_, {})) {
      TRY_ASSIGN(const bool done,
                 missing.is_server || missing.is_chief ? ask_same(missing) : ask_by_rule(missing));
      if (!done) still.push_back(missing);
    }
    missing_ = std::move(still);
    if (!missing_.empty()) retry_at_ = provider_.now() + kBackOff;
    return {};
  }

  Status ask_for_cluster() {
    std::vector<ServerSpec> specs;
    for (const Offer& offer : training_.parameter_servers) {
      specs.push_back(members_.next_spec(offer, true, false));
    }
    for (std::size_t i = 0; i < training_.workers.size(); ++i) {
      specs.push_back(members_.next_spec(training_.workers[i], false, i == 0));
    }
    auto made = provider_.create_all(specs, specs.size());
    if (!made.ok() && made.error().code != Code::ResourceExhausted) return std::move(made).error();
    if (!made.ok()) {
      ++outcome_.refused;
      retry_at_ = provider_.now() + kBackOff;
      return {};
    }
    for (const ServerSpec& spec : specs) members_.add(spec, provider_.now());
    asked_ = true;
    return {};
  }

  // False: there is no capacity.
  Result<bool> ask(const Offer& offer, bool is_server, bool is_chief) {
    const ServerSpec spec = members_.next_spec(offer, is_server, is_chief);
    auto made = provider_.create_all({spec}, 1);
    if (made.ok()) {
      members_.add(spec, provider_.now());
      ++outcome_.replacements;
      return true;
    }
    if (made.error().code != Code::ResourceExhausted) return std::move(made).error();
    ++outcome_.refused;
    return false;
  }

  Result<bool> ask_same(const Missing& missing) {
    return ask(missing.offer, missing.is_server, missing.is_chief);
  }

  // The best offer, and the next best while there is no capacity. False: it is to be asked again.
  Result<bool> ask_by_rule(const Missing& missing) {
    std::vector<ReplacementCandidate> candidates;
    for (const Offer& offer : training_.replacements) {
      candidates.push_back({.offer = offer,
                            .steps_per_s = speed_of(offer),
                            .startup = training_.startup + training_.join,
                            .lifetime = training_.lifetime_of(offer)});
    }
    bool refused = false;
    while (true) {
      const RemainingWork work = members_.remaining(training_.steps - steps_, outcome_.losses);
      const ReplacementChoice choice =
          choose_replacement(training_.replacement, work, missing.offer, candidates);
      if (!choice.candidate) {
        if (!refused && !members_.has_worker()) finish("no-workers");
        return !refused;
      }
      TRY_ASSIGN(const bool made, ask(candidates[*choice.candidate].offer, false, false));
      if (made) return true;
      refused = true;
      candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(*choice.candidate));
    }
  }

  double speed_of(const Offer& offer) const {
    const auto& servers = training_.parameter_servers;
    return worker_speed(training_.speeds, offer,
                        servers.empty() ? std::string_view() : servers.front().zone);
  }

  void finish(std::string end) {
    const Time now = provider_.now();
    outcome_.end = std::move(end);
    outcome_.finished = outcome_.end == "completed";
    outcome_.steps = steps_;
    outcome_.train_s = first_step_ == kNever ? 0 : seconds(now - first_step_);
    const auto servers = provider_.list(training_.job);
    for (const Server& server : servers.value()) {
      const Status stopped = provider_.stop(server.spec.name, EndReason::Completed);
      INVARIANT(stopped.ok(), "the provider listed the server");
    }
    const auto ended = provider_.list(training_.job);
    for (const Server& server : ended.value()) outcome_.usd += cost_usd(server, now);
  }

  const TransientTraining& training_;
  DiscreteEventProvider& provider_;
  TrainingMembers members_;
  TransientOutcome outcome_{};
  Time began_;
  Time first_step_ = kNever;
  Time retry_at_;
  std::vector<Missing> missing_{};
  bool asked_ = false;
  std::int64_t sequence_ = 0;
  double steps_ = 0;
  double saved_steps_ = 0;
  Time saved_at_{};
  double save_steps_ = -1;  // of the save that goes on; below 0: none
  Time save_ends_{};
  Time checkpoint_at_ = kNever;
};

}  // namespace

Result<TransientOutcome> run_training(const TransientTraining& training,
                                      DiscreteEventProvider& provider) {
  double fastest = 0;
  for (const Offer& offer : training.workers) {
    fastest = std::max(fastest, worker_speed(training.speeds, offer, {}));
  }
  if (!(fastest > 0)) return invalid("no worker has a GPU whose speed is known");
  if (!(training.steps > 0)) return invalid("a training has 1 step or more");
  if (training.parameter_servers.empty() && training.workers.size() > 1) {
    return invalid("several workers need a parameter server");
  }
  return TrainingRun(training, provider).run();
}

std::string_view text_of(ChiefLoss loss) { return kChiefLosses[static_cast<std::size_t>(loss)]; }

std::optional<ChiefLoss> chief_loss_of(std::string_view word) {
  const auto found = std::ranges::find(kChiefLosses, word);
  if (found == kChiefLosses.end()) return std::nullopt;
  return static_cast<ChiefLoss>(found - kChiefLosses.begin());
}

}  // namespace orrery
