#include "training/mode_selection/star/star.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "training/mode_selection/rivals/fixed.h"
#include "training/mode_selection/scoring/noise_scale.h"
#include "training/mode_selection/scoring/score.h"
#include "training/mode_selection/star/calm_trial.h"
#include "training/mode_selection/stragglers/iteration_forecast.h"
#include "training/mode_selection/stragglers/pace_memory.h"

namespace orrery {
namespace {

constexpr std::size_t kScoresNoted = 5;
constexpr int kScoreRarelyFactor = 8;
constexpr int kAskedMost = 3;  // of the cluster, in one look
constexpr const char* kTriedOut = "tried out while nobody straggles";
constexpr const char* kDidNotHelp = "it did not help";

class Star final : public StarDirector {
 public:
  Star(const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
       std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant)
      : options_(options),
        forecast_(
            {.horizon = options.horizon, .straggler = options.straggler, .plain = options.plain},
            std::move(predictors)),
        cost_(options.staleness),
        cutter_(options.window),
        guard_(options.guard),
        regression_(std::move(regression)),
        selector_(regression_.get(), options.selector, options.experience),
        grant_(std::move(grant)) {
    options_.experience.clear();
  }

  // What is told is put down, and worked through when it can matter: one by one, everything it goes
  // through would have left the processor's caches each time.
  void on_iteration(const IterationSample& sample) override { told_.emplace_back(sample); }
  void on_update(const UpdateSample& update) override { told_.emplace_back(update); }

  Mode direct(const Situation& situation) override {
    follow_membership(situation);
    if (may_look(situation)) take_in();
    if (std::abs(situation.rate - rate_) > 1e-3 * situation.rate) {
      take_in();
      rate_ = situation.rate;
      if (const auto window = cutter_.begin(rate_, 0)) learn(*window);
    }
    if (!is_synchronous() && guard_.rose()) {
      guard_.keep_away(mode_, present_staleness_, situation.now);
      go_to(synchronous_mode(situation.architecture), "the loss rose", situation, {});
    }
    if (!situation.under_way.empty()) forecast_.look_at(situation.under_way);
    if (is_due(situation)) {
      look(situation);
    } else {
      look_early(situation);
    }
    return mode_;
  }

  std::span<const ModeSwitch> notes() const override { return notes_; }
  std::vector<SelectorSample> take_windows() override { return std::exchange(windows_, {}); }
  const SelectorChoice& selector() const override { return selector_; }
  double lambda() const override { return cost_.lambda(); }
  double noise_scale() const override { return noise_.phi().value_or(0); }
  std::vector<RaceStanding> predictors() const override { return forecast_.predictors(); }

 private:
  struct Refusal {
    Mode mode{};
    Time until{};
  };

  void take_in() {
    for (const auto& told : told_) {
      std::visit([this](const auto& sample) { take_in(sample); }, told);
    }
    told_.clear();
  }
  void take_in(const IterationSample& sample) {
    forecast_.add(sample, mode_);
    noise_.add(sample);
    guard_.add(sample);
    calm_.add(sample);
    if (const auto window = cutter_.add(sample)) learn(*window);
  }
  void take_in(const UpdateSample& update) {
    noise_.add(update);
    forecast_.add(update);
  }

  // Whether updates are sums among several.
  bool sums() const {
    return synchronous_.rule == SyncRuleKind::Ring &&
           (mode_.ring.empty() ? workers_ : mode_.ring).size() > 1;
  }

  bool is_synchronous() const { return same_family(mode_, synchronous_); }

  void follow_membership(const Situation& situation) {
    if (std::ranges::equal(workers_, situation.workers)) return;
    take_in();
    const bool first = workers_.empty();
    seen_enough_ = false;
    workers_.assign(situation.workers.begin(), situation.workers.end());
    forecast_.keep_only(workers_, situation.architecture);
    pace_.forget();
    synchronous_ = synchronous_mode(situation.architecture);
    if (first) {
      mode_ = synchronous_;
      switched_at_ = looked_at_ = situation.now;
      switched_samples_ = looked_samples_ = situation.samples_done;
    } else if (names_workers(mode_)) {
      go_to(synchronous_, "somebody joined or left", situation, {});
    }
  }

  bool may_look(const Situation& situation) const {
    return situation.now - looked_at_ >= options_.look_least || !seen_enough_;
  }

  bool is_due(const Situation& situation) {
    const double rounds = static_cast<double>(situation.samples_done - looked_samples_) /
                          std::max(1, situation.global_batch);
    const bool waits_in_vain = forecast_.any_worker_hangs() && !situation.under_way.empty();
    if (!waits_in_vain &&
        (rounds < options_.look_rounds || situation.now - looked_at_ < options_.look_least)) {
      return false;
    }
    if (sums() && !forecast_.ring().knows_sums() && !starts_slowly(situation)) return false;
    const int least = starts_slowly(situation) ? options_.tasks_slow : options_.tasks_least;
    seen_enough_ = forecast_.has_seen(least);
    return seen_enough_;
  }

  // Before the first switch: who is slow beyond doubt shows it within a task or two, and every
  // round spent on making sure is one that waits for it.
  void look_early(const Situation& situation) {
    if (!notes_.empty() || seen_enough_ || (sums() && !forecast_.ring().has_sums())) return;
    if (situation.now - looked_early_at_ < options_.look_least) return;
    looked_early_at_ = situation.now;
    if (!forecast_.predict_first(situation, mode_)) return;
    const ScoreSituation asked = score_situation(situation);
    const ScoredMode present = score_mode(asked, mode_);
    decide(situation, score_modes(asked), present);
  }

  // Before its first switch, and so slow that as much as is usual would take long to see.
  bool starts_slowly(const Situation& situation) const {
    return notes_.empty() && situation.now - switched_at_ >= options_.slow_start;
  }

  bool has_stayed(const Situation& situation) const {
    const double rounds = static_cast<double>(situation.samples_done - switched_samples_) /
                          std::max(1, situation.global_batch);
    if (forecast_.any_worker_hangs()) return true;
    const bool first = notes_.empty();  // before it, time alone teaches nothing
    const double least = starts_slowly(situation) ? options_.tasks_slow : options_.stay_rounds;
    return rounds >= least && (first || situation.now - switched_at_ >= options_.stay_least);
  }

  ScoreSituation score_situation(const Situation& situation) const {
    return {.architecture = situation.architecture,
            .workers = forecast_.workers(),
            .global_batch = static_cast<double>(situation.global_batch),
            .batch_least = options_.batch_least,
            .blocks = options_.blocks,
            .lambda = cost_.lambda_optimistic(),
            .phi = noise_.phi().value_or(0),
            .jitter = forecast_.jitter(),
            .message_s = forecast_.message_s()};
  }

  void look(const Situation& situation) {
    const double passed_s = seconds(situation.now - looked_at_);
    const double samples = static_cast<double>(situation.samples_done - looked_samples_);
    looked_at_ = situation.now;
    looked_samples_ = situation.samples_done;
    forecast_.predict(situation, mode_);
    calm_.look(situation, forecast_.stragglers().empty());
    const ScoreSituation asked = score_situation(situation);
    ScoredMode present = score_mode(asked, mode_);
    present_staleness_ = present.pace.staleness;
    pace_.add(mode_, samples / passed_s, present.pace.samples_per_s, passed_s);
    const bool nobody = forecast_.stragglers().empty();
    if (!nobody) follow_speeds(asked, present);
    pace_.correct(present, mode_);
    ScoredMode ssgd = present;
    // Windows are longer than looks are apart, so not every look has to note what they are of.
    const bool sample = !present_sample_ || situation.now - sampled_at_ >= options_.score_least;
    if (!is_synchronous() && (sample || nobody)) {
      ssgd = score_mode(asked, synchronous_);
      pace_.correct(ssgd, mode_);
    }
    if (sample) {
      sampled_at_ = situation.now;
      present_sample_ =
          SelectorSample{.features = features(present, ssgd, situation),
                         .ssgd_batch_s = situation.global_batch / ssgd.pace.samples_per_s};
    }
    if (nobody && !is_synchronous()) return leave_or_stay(situation, present, ssgd);
    // A whole ring waits for all of its tasks and for the sum of all, even if nobody straggles.
    const double pace = calm_.pace(situation);
    if (nobody && !(sums() && pace > 0)) return;
    if (!is_time_to_score(situation)) return;
    std::vector<ScoredMode> all = score_modes(asked);
    for (ScoredMode& scored : all) pace_.correct(scored, mode_);
    if (!has_stayed(situation)) return;
    const auto switches = notes_.size();
    decide(situation, all, present);
    if (nobody && notes_.size() > switches) calm_.try_out(pace);
  }

  // Tasks that scatter are waited for too, and it can pay not to.
  void leave_or_stay(const Situation& situation, const ScoredMode& present,
                     const ScoredMode& ssgd) {
    const CalmTrial::Verdict verdict = calm_.judge(situation, cost_.lambda());
    if (verdict == CalmTrial::Verdict::Open) return;
    const bool pays = verdict == CalmTrial::Verdict::Helps ||
                      (verdict == CalmTrial::Verdict::None &&
                       present.time_s <= (1 - options_.move_margin) * ssgd.time_s);
    if ((pays && !in_last_part(situation)) || !has_stayed(situation)) return;
    const bool tried = verdict == CalmTrial::Verdict::DoesNot;
    go_to(synchronous_, tried ? kDidNotHelp : "nobody straggles", situation, {ssgd, present});
  }

  // As long as the same workers straggle and the mode stays, all modes are scored less and less
  // often: it is by far the greatest part of what STAR costs.
  bool is_time_to_score(const Situation& situation) {
    const bool same = std::ranges::equal(forecast_.stragglers(), scored_for_);
    if (!same) score_wait_ = options_.score_least;
    if (!awaited_ && situation.now - scored_at_ < score_wait_) return false;
    if (same && !awaited_)
      score_wait_ = std::min(2 * score_wait_, kScoreRarelyFactor * options_.score_least);
    scored_at_ = situation.now;
    scored_for_.assign(forecast_.stragglers().begin(), forecast_.stragglers().end());
    return true;
  }

  // The candidates in the order in which they are to be tried.
  std::vector<const ScoredMode*> in_order(const Situation& situation,
                                          const std::vector<ScoredMode>& all) {
    const bool near_end = in_last_part(situation);
    std::vector<const ScoredMode*> allowed;
    for (const ScoredMode& scored : all) {
      if (!std::isfinite(scored.time_s) ||
          guard_.keeps_away(scored.mode, scored.pace.staleness, situation.now))
        continue;
      if (near_end && scored.pace.staleness > options_.staleness_harmless) continue;
      allowed.push_back(&scored);
    }
    std::ranges::stable_sort(allowed, {}, [](const ScoredMode* scored) { return scored->time_s; });
    std::vector<ModeFeatures> rows;
    for (const ScoredMode* scored : allowed)
      rows.push_back(features(*scored, all.front(), situation));
    by_selector_ = false;
    if (const auto chosen = selector_.choose(rows)) {
      by_selector_ = true;
      std::rotate(allowed.begin(), allowed.begin() + static_cast<std::ptrdiff_t>(*chosen),
                  allowed.begin() + static_cast<std::ptrdiff_t>(*chosen) + 1);
    }
    return allowed;
  }

  bool in_last_part(const Situation& situation) const {
    return options_.samples_limit > 0 &&
           static_cast<double>(situation.samples_done) >
               (1 - options_.end_part) * static_cast<double>(options_.samples_limit);
  }

  void decide(const Situation& situation, const std::vector<ScoredMode>& all,
              const ScoredMode& present) {
    const ScoredMode& ssgd = all.front();
    const ScoreSituation asked_in = score_situation(situation);
    const bool members_matter = std::ranges::any_of(all, [&](const ScoredMode& scored) {
      return same_family(scored.mode, mode_) &&
             is_far_slower_ring(asked_in, mode_.ring, scored.mode.ring);
    });
    double present_s = present.time_s;
    for (const ScoredMode& scored : all) {
      if (!members_matter && same_family(scored.mode, mode_)) {
        present_s = std::min(present_s, scored.time_s);
      }
    }
    const bool near_end = in_last_part(situation);
    const bool too_stale = near_end && present.pace.staleness > options_.staleness_harmless;
    int asked = 0;
    std::vector<const ScoredMode*> candidates = in_order(situation, all);
    const ScoredMode* const selected =
        by_selector_ && !candidates.empty() ? candidates.front() : nullptr;
    put_awaited_first(candidates);
    for (const ScoredMode* best : candidates) {
      if (same_family(best->mode, mode_) && !members_matter) return;
      const bool to_ssgd = same_family(best->mode, synchronous_);
      const double margin = is_synchronous() ? options_.leave_margin
                            : to_ssgd        ? options_.return_margin
                                             : options_.move_margin;
      // The selector's word is its own: what the heuristic thinks of it need not be better.
      const bool chosen = best == selected && asked == 0;
      if (best->mode == mode_) return;
      if (!chosen && !too_stale && best->time_s > (1 - margin) * present_s) break;
      const GrantAnswer answer = to_ssgd ? GrantAnswer::Yes : may_go_to(*best, ssgd, situation);
      if (answer == GrantAnswer::Later) {
        awaited_ = best->mode;
        return;
      }
      if (answer == GrantAnswer::Yes) {
        const std::string reason = too_stale ? "near the end: less stale"
                                   : chosen  ? "the selector expects the fastest fall of the loss"
                                   : forecast_.stragglers().empty()
                                       ? kTriedOut
                                       : "least time for the same progress";
        go_to(best->mode, reason, situation, noted(all, present));
        return;
      }
      if (++asked == kAskedMost) break;
    }
    if (too_stale) go_to(synchronous_, "near the end: less stale", situation, noted(all, present));
  }

  // The mode that was asked for, unless it is none any more: scores that lie close together change
  // places from look to look, and an answer would never find its question.
  void put_awaited_first(std::vector<const ScoredMode*>& candidates) {
    if (!awaited_) return;
    const auto found = std::ranges::find_if(candidates, [this](const ScoredMode* scored) {
      return same_family(scored->mode, *awaited_);
    });
    if (found != candidates.end()) std::rotate(candidates.begin(), found, found + 1);
    awaited_.reset();
  }

  GrantAnswer may_go_to(const ScoredMode& wanted, const ScoredMode& ssgd,
                        const Situation& situation) {
    if (!grant_) return GrantAnswer::Yes;
    std::erase_if(refusals_, [&](const Refusal& r) { return r.until <= situation.now; });
    if (std::ranges::any_of(refusals_, [&](const Refusal& refusal) {
          return same_family(refusal.mode, wanted.mode);
        })) {
      return GrantAnswer::No;
    }
    const GrantAnswer answer =
        grant_->may({.now = situation.now,
                     .mode = wanted.mode,
                     .rate_ratio = wanted.pace.gradients_per_s / ssgd.pace.gradients_per_s,
                     .time_saved = 1 - wanted.time_s / ssgd.time_s});
    if (answer == GrantAnswer::No) {
      refusals_.push_back({wanted.mode, situation.now + options_.refusal_holds});
    }
    granted_ = granted_ || answer == GrantAnswer::Yes;
    return answer;
  }

  // Within the same mode batches may be divided anew; that is no switch, and what the mode is worth
  // is what it is worth then.
  void follow_speeds(const ScoreSituation& asked, ScoredMode& present) {
    if (mode_.shares.empty()) return;
    Mode anew = mode_;
    anew.shares = balanced_shares(asked);
    if (anew.shares.size() != mode_.shares.size()) return;
    bool off = false;
    for (std::size_t i = 0; i < mode_.shares.size(); ++i) {
      const double wanted = anew.shares[i].second;
      off = off || std::abs(mode_.shares[i].second - wanted) > options_.shares_step * wanted;
    }
    if (!off) return;
    ScoredMode scored = score_mode(asked, anew);
    if (scored.time_s > present.time_s) return;
    mode_ = std::move(anew);
    present = std::move(scored);
  }

  ModeFeatures features(const ScoredMode& scored, const ScoredMode& ssgd,
                        const Situation& situation) const {
    const double n = static_cast<double>(workers_.size());
    return {.kind = kind_number(scored.mode.rule),
            .x_share = scored.pace.gradients_per_s * scored.pace.interval_s / n,
            .unequal_shares = scored.mode.shares.empty() ? 0.0 : 1.0,
            .gradients_ratio = scored.pace.samples_per_s / ssgd.pace.samples_per_s,
            .staleness = scored.pace.staleness,
            .straggling = straggling_degree(forecast_.times()),
            .noise_ratio = noise_.phi().value_or(0) / std::max(1, situation.global_batch),
            .rate = situation.rate,
            .phase = (first_loss_ > 0 ? loss_ / first_loss_ : 1),
            .compute_share = forecast_.compute_share()};
  }

  void learn(const LossWindow& window) {
    cost_.add(window);
    if (first_loss_ == 0) first_loss_ = window.loss;
    loss_ = window.loss;
    if (!present_sample_ || !(window.seconds_long() > 0) || !(first_loss_ > 0)) return;
    SelectorSample sample = *present_sample_;
    sample.features.phase = window.loss / first_loss_;
    sample.loss_drop = window.drop * window.samples / window.seconds_long() * sample.ssgd_batch_s;
    sample.lambda = cost_.lambda();
    sample.at = window.to;
    if (!is_finite(sample)) return;
    selector_.add(sample);
    windows_.push_back(sample);
  }

  void go_to(const Mode& mode, const std::string& reason, const Situation& situation,
             const std::vector<ScoredMode>& scores) {
    const int n = static_cast<int>(workers_.size());
    ModeSwitch note{.at = situation.now,
                    .from = mode_name(mode_, n),
                    .to = mode_name(mode, n),
                    .reason = reason};
    for (const ScoredMode& scored : scores) {
      note.scores.push_back({.mode = mode_name(scored.mode, n),
                             .time_s = scored.time_s,
                             .samples_per_s = scored.pace.samples_per_s,
                             .staleness = scored.pace.staleness});
    }
    notes_.push_back(std::move(note));
    calm_.switched();
    if (mode.ring != mode_.ring) forecast_.ring_formed();
    mode_ = mode;
    switched_at_ = situation.now;
    switched_samples_ = situation.samples_done;
    score_wait_ = options_.score_least;
    const double staleness_before = std::exchange(present_staleness_, 0);
    for (const ScoredMode& scored : scores) {
      if (same_family(scored.mode, mode)) present_staleness_ = scored.pace.staleness;
    }
    present_sample_.reset();
    guard_.switched(present_staleness_ < staleness_before);
    if (const auto window = cutter_.begin(rate_, 2 * n)) learn(*window);
    if (granted_ && is_synchronous()) {
      grant_->given_back(situation.now);
      granted_ = false;
    }
  }

  static std::vector<ScoredMode> noted(const std::vector<ScoredMode>& all,
                                       const ScoredMode& present) {
    std::vector<ScoredMode> best(all.begin() + 1, all.end());
    std::ranges::stable_sort(best, {}, &ScoredMode::time_s);
    if (best.size() > kScoresNoted) best.resize(kScoresNoted);
    best.push_back(all.front());
    best.push_back(present);
    return best;
  }

  StarOptions options_;
  IterationForecast forecast_;
  NoiseScale noise_;
  StalenessCost cost_;
  LossWindows cutter_;
  LossGuard guard_;
  CalmTrial calm_;
  PaceMemory pace_;
  std::unique_ptr<ModeRegression> regression_;
  SelectorChoice selector_;
  std::shared_ptr<ModeGrant> grant_;

  std::vector<std::variant<IterationSample, UpdateSample>> told_;
  bool seen_enough_ = false;

  std::vector<WorkerId> workers_;
  Mode mode_{}, synchronous_{};
  Time switched_at_{}, looked_at_{}, looked_early_at_{}, sampled_at_{},
      scored_at_{-std::chrono::hours(1)};
  Duration score_wait_{};
  std::vector<WorkerId> scored_for_;  // who straggled when modes were last scored
  std::int64_t switched_samples_ = 0, looked_samples_ = 0;
  double rate_ = 0;
  double present_staleness_ = 0;
  double first_loss_ = 0, loss_ = 0;  // of windows
  bool granted_ = false;
  bool by_selector_ = false;
  std::optional<SelectorSample> present_sample_;  // of the present mode, as at the last look
  std::vector<SelectorSample> windows_;           // not yet taken
  std::vector<Refusal> refusals_;
  std::optional<Mode> awaited_;  // asked for, and not answered yet
  std::vector<ModeSwitch> notes_;
};

}  // namespace

std::unique_ptr<StarDirector> make_star_director(
    const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
    std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant) {
  return std::make_unique<Star>(options, std::move(predictors), std::move(regression),
                                std::move(grant));
}

}  // namespace orrery
