#include "training/mode_selection/star/star.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/star/calm_try_out.h"
#include "training/mode_selection/star/evidence.h"
#include "training/mode_selection/star/hysteresis.h"
#include "training/mode_selection/star/mode_decision.h"

namespace orrery {
namespace {

constexpr std::size_t kScoresNoted = 5;

// The best five modes, SSGD and the present one.
std::vector<ScoredMode> noted(const std::vector<ScoredMode>& all, const ScoredMode& present) {
  std::vector<ScoredMode> best(all.begin() + 1, all.end());
  std::ranges::stable_sort(best, {}, &ScoredMode::time_s);
  if (best.size() > kScoresNoted) best.resize(kScoresNoted);
  best.push_back(all.front());
  best.push_back(present);
  return best;
}

class Star final : public StarDirector {
 public:
  Star(const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
       std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant)
      : options_(options),
        evidence_(options_, std::move(predictors)),
        hysteresis_(options_),
        decision_(options_, std::move(regression), std::move(grant)),
        guard_(options.guard) {
    options_.experience.clear();
  }

  // Samples are kept, and worked through when they can matter: one by one, everything they go
  // through would have left the processor's caches each time.
  void on_iteration(const IterationSample& sample) override { pending_.emplace_back(sample); }
  void on_update(const UpdateSample& update) override { pending_.emplace_back(update); }

  Mode direct(const Situation& situation) override {
    follow_membership(situation);
    if (hysteresis_.may_look(situation.now)) take_in();
    if (evidence_.losses().is_other_rate(situation.rate)) {
      take_in();
      keep(evidence_.losses().set_rate(situation.rate));
    }
    if (!is_synchronous() && guard_.rose()) {
      guard_.keep_away(mode_, present_staleness_, situation.now);
      go_to(synchronous_, "the loss rose", situation, {});
    }
    if (!situation.under_way.empty()) evidence_.forecast().look_at(situation.under_way);
    if (hysteresis_.is_due(situation, evidence_.forecast(), sums())) {
      look(situation);
    } else {
      look_early(situation);
    }
    return mode_;
  }

  std::span<const ModeSwitch> notes() const override { return notes_; }
  std::vector<SelectorSample> take_windows() override { return std::exchange(windows_, {}); }
  const SelectorChoice& selector() const override { return decision_.selector(); }
  double lambda() const override { return evidence_.losses().lambda(); }
  double noise_scale() const override { return evidence_.noise_scale(); }
  std::vector<RaceStanding> predictors() const override {
    return evidence_.forecast().predictors();
  }

 private:
  void take_in();
  void keep(const std::optional<SelectorSample>& sample);
  void follow_membership(const Situation& situation);
  // True if updates are sums among several workers.
  bool sums() const {
    return synchronous_.rule == SyncRuleKind::Ring &&
           (mode_.ring.empty() ? workers_ : mode_.ring).size() > 1;
  }
  bool is_synchronous() const { return same_family(mode_, synchronous_); }
  bool may_leave(const Situation& situation) const {
    return hysteresis_.may_leave(situation, evidence_.forecast().any_worker_hangs());
  }
  void look(const Situation& situation);
  void look_early(const Situation& situation);
  ScoredMode look_at_present(const Situation& situation);
  ScoredMode look_at_ssgd(const Situation& situation, const ScoredMode& present);
  void return_or_stay(const Situation& situation, const ScoredMode& present,
                      const ScoredMode& ssgd);
  bool decide(const Situation& situation, const std::vector<ScoredMode>& all,
              const ScoredMode& present);
  void follow_speeds(const Situation& situation, ScoredMode& present);
  void go_to(const Mode& mode, const std::string& reason, const Situation& situation,
             const std::vector<ScoredMode>& scores);

  StarOptions options_;
  StarEvidence evidence_;
  SwitchHysteresis hysteresis_;
  ModeDecision decision_;
  LossGuard guard_;
  CalmTryOut calm_{};

  std::vector<std::variant<IterationSample, UpdateSample>> pending_{};
  std::vector<WorkerId> workers_{};
  Mode mode_{}, synchronous_{};
  double present_staleness_ = 0;
  std::vector<SelectorSample> windows_{};  // not yet taken
  std::vector<ModeSwitch> notes_{};
};

void Star::take_in() {
  for (const auto& pending : pending_) {
    if (const auto* const update = std::get_if<UpdateSample>(&pending)) {
      evidence_.add(*update);
      continue;
    }
    const auto& sample = std::get<IterationSample>(pending);
    guard_.add(sample);
    calm_.add(sample);
    keep(evidence_.add(sample, mode_));
  }
  pending_.clear();
}

void Star::keep(const std::optional<SelectorSample>& sample) {
  if (!sample) return;
  decision_.add(*sample);
  windows_.push_back(*sample);
}

void Star::follow_membership(const Situation& situation) {
  if (std::ranges::equal(workers_, situation.workers)) return;
  take_in();
  const bool first = workers_.empty();
  hysteresis_.members_changed();
  workers_.assign(situation.workers.begin(), situation.workers.end());
  evidence_.members_changed(situation);
  synchronous_ = synchronous_mode(situation.architecture);
  if (first) {
    mode_ = synchronous_;
    hysteresis_.begin(situation);
  } else if (names_workers(mode_)) {
    go_to(synchronous_, "a worker joined or left", situation, {});
  }
}

// A worker that is slow beyond doubt shows it within a task or two.
void Star::look_early(const Situation& situation) {
  if (!hysteresis_.is_due_early(situation, evidence_.forecast(), sums())) return;
  if (!evidence_.forecast().predict_first(situation, mode_)) return;
  decide(situation, evidence_.predicted_scores(situation),
         evidence_.predicted_score(situation, mode_));
}

void Star::look(const Situation& situation) {
  const ScoredMode present = look_at_present(situation);
  const ScoredMode ssgd = look_at_ssgd(situation, present);
  const bool no_straggler = evidence_.forecast().stragglers().empty();
  if (no_straggler && !is_synchronous()) return return_or_stay(situation, present, ssgd);
  // A whole ring waits for all of its tasks and for the sum of all, even if no worker straggles.
  const double pace = calm_.pace(situation);
  if (no_straggler && !(sums() && pace > 0)) return;
  if (!hysteresis_.is_scoring_due(situation.now, evidence_.forecast().stragglers(),
                                  decision_.awaits_answer()) ||
      !may_leave(situation)) {
    return;
  }
  std::vector<ScoredMode> all = evidence_.predicted_scores(situation);
  for (ScoredMode& scored : all) evidence_.correct(scored, mode_);
  if (decide(situation, all, present) && no_straggler) calm_.try_out(pace);
}

ScoredMode Star::look_at_present(const Situation& situation) {
  const SwitchHysteresis::Stretch passed = hysteresis_.look(situation);
  evidence_.forecast().predict(situation, mode_);
  const bool no_straggler = evidence_.forecast().stragglers().empty();
  calm_.look(situation, no_straggler);
  ScoredMode present = evidence_.predicted_score(situation, mode_);
  present_staleness_ = present.pace.staleness;
  evidence_.add_pace(present, passed.samples / passed.seconds, passed.seconds);
  if (!no_straggler) follow_speeds(situation, present);
  evidence_.correct(present, mode_);
  return present;
}

// Windows are longer than looks are apart, so not every look has to describe the present mode.
ScoredMode Star::look_at_ssgd(const Situation& situation, const ScoredMode& present) {
  const bool describes = evidence_.losses().is_description_due(situation.now);
  const bool no_straggler = evidence_.forecast().stragglers().empty();
  ScoredMode ssgd = present;
  if (!is_synchronous() && (describes || no_straggler)) {
    ssgd = evidence_.predicted_score(situation, synchronous_);
    evidence_.correct(ssgd, mode_);
  }
  if (describes) {
    evidence_.losses().describe_present(evidence_.features(present, ssgd, situation),
                                        situation.global_batch / ssgd.pace.samples_per_s,
                                        situation.now);
  }
  return ssgd;
}

// Tasks that scatter are waited for too, and not waiting for them can be worth it.
void Star::return_or_stay(const Situation& situation, const ScoredMode& present,
                          const ScoredMode& ssgd) {
  const CalmTryOut::Verdict verdict = calm_.judge(situation, evidence_.losses().lambda());
  if (verdict == CalmTryOut::Verdict::Open) return;
  const bool helps = verdict == CalmTryOut::Verdict::Helps ||
                     (verdict == CalmTryOut::Verdict::None &&
                      present.time_s <= (1 - options_.move_margin) * ssgd.time_s);
  if ((helps && !decision_.is_near_end(situation)) || !may_leave(situation)) return;
  const bool tried = verdict == CalmTryOut::Verdict::DoesNot;
  go_to(synchronous_, tried ? "it did not help" : "no worker straggles", situation,
        {ssgd, present});
}

bool Star::decide(const Situation& situation, const std::vector<ScoredMode>& all,
                  const ScoredMode& present) {
  const auto choice = decision_.choose(situation, {all, present}, evidence_, guard_);
  if (choice) go_to(choice->mode, choice->reason, situation, noted(all, present));
  return choice.has_value();
}

// Within the same mode batches may be divided by newer speeds. That is no switch, and the mode is
// worth what it is worth then.
void Star::follow_speeds(const Situation& situation, ScoredMode& present) {
  if (mode_.shares.empty()) return;
  Mode balanced = mode_;
  balanced.shares = balanced_shares(evidence_.score_situation(situation));
  if (balanced.shares.size() != mode_.shares.size()) return;
  bool off = false;
  for (std::size_t i = 0; i < mode_.shares.size(); ++i) {
    const double wanted = balanced.shares[i].second;
    off = off || std::abs(mode_.shares[i].second - wanted) > options_.shares_step * wanted;
  }
  if (!off) return;
  ScoredMode scored = evidence_.predicted_score(situation, balanced);
  if (scored.time_s > present.time_s) return;
  mode_ = std::move(balanced);
  present = std::move(scored);
}

void Star::go_to(const Mode& mode, const std::string& reason, const Situation& situation,
                 const std::vector<ScoredMode>& scores) {
  const int n = static_cast<int>(workers_.size());
  ModeSwitch note{
      .at = situation.now, .from = mode_name(mode_, n), .to = mode_name(mode, n), .reason = reason};
  for (const ScoredMode& scored : scores) {
    note.scores.push_back({.mode = mode_name(scored.mode, n),
                           .time_s = scored.time_s,
                           .samples_per_s = scored.pace.samples_per_s,
                           .staleness = scored.pace.staleness});
  }
  notes_.push_back(std::move(note));
  calm_.switched();
  evidence_.mode_changed(mode_, mode, n);
  mode_ = mode;
  hysteresis_.switched(situation);
  const double staleness_before = std::exchange(present_staleness_, 0);
  for (const ScoredMode& scored : scores) {
    if (same_family(scored.mode, mode)) present_staleness_ = scored.pace.staleness;
  }
  guard_.switched(present_staleness_ < staleness_before);
  if (is_synchronous()) decision_.back_in_ssgd(situation.now);
}

}  // namespace

std::unique_ptr<StarDirector> make_star_director(
    const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
    std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant) {
  return std::make_unique<Star>(options, std::move(predictors), std::move(regression),
                                std::move(grant));
}

}  // namespace orrery
