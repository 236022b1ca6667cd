#include "steer/star.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "steer/fixed.h"
#include "steer/noise_scale.h"
#include "steer/pace_memory.h"
#include "steer/ring_costs.h"
#include "steer/score.h"
#include "sync/ring_sum.h"

namespace orrery {
namespace {

constexpr std::size_t kScoresNoted = 5;
constexpr double kDeviationOverMean = 1.25;  // of a normal: deviation over mean distance
constexpr int kScoreRarelyFactor = 8;
constexpr int kAskedMost = 3;  // of the cluster, in one look

bool names_workers(const Mode& mode) {
  return !mode.groups.empty() || !mode.ring.empty() || !mode.parents.empty() ||
         !mode.shares.empty();
}

double kind_number(SyncRuleKind rule) {
  switch (rule) {
    case SyncRuleKind::Static:
      return 0;
    case SyncRuleKind::Dynamic:
      return 1;
    case SyncRuleKind::Ring:
      return 2;
    case SyncRuleKind::Lgc:
      return 3;
    case SyncRuleKind::Ssp:
    case SyncRuleKind::ZenoPlus:
      return 4;
  }
  return 0;
}

class Star final : public StarDirector {
 public:
  Star(const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
       std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant)
      : options_(options),
        race_(make_predictor_race(std::move(predictors), {.ahead = options.ahead})),
        watch_(options.straggler),
        cost_(options.staleness),
        cutter_(options.window),
        guard_(options.guard),
        regression_(std::move(regression)),
        selector_(regression_.get(), options.selector),
        grant_(std::move(grant)) {}

  // What is told is put down, and worked through when it can matter: one by one, everything it goes
  // through would have left the processor's caches each time.
  void saw(const IterationSample& sample) override { told_.emplace_back(sample); }
  void saw(const UpdateSample& update) override { told_.emplace_back(update); }
  void saw(const EvaluationSample&) override {}

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
    find_hanging(situation);
    if (is_due(situation)) {
      look(situation);
    } else {
      look_early(situation);
    }
    return mode_;
  }

  std::span<const SteerNote> notes() const override { return notes_; }
  std::span<const SelectorSample> windows() const override { return selector_.samples(); }
  double lambda() const override { return cost_.lambda(); }
  double noise_scale() const override { return noise_.phi().value_or(0); }
  std::vector<RaceStanding> predictors() const override { return race_->standings(); }

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
    book_.saw(all_reduce_ ? ring_.own_part(sample, mode_, book_) : sample);
    if (const WorkerRecord* record = book_.find(sample.worker)) race_->saw(record->history);
    noise_.saw(sample);
    guard_.saw(sample);
    if (const auto window = cutter_.saw(sample)) learn(*window);
  }
  void take_in(const UpdateSample& update) {
    noise_.saw(update);
    if (all_reduce_) ring_.saw_sum(update.took);
  }

  // Whether updates are sums among several.
  bool sums() const {
    return all_reduce_ && (mode_.ring.empty() ? workers_ : mode_.ring).size() > 1;
  }

  bool is_synchronous() const { return same_family(mode_, synchronous_); }

  void follow_membership(const Situation& situation) {
    if (std::ranges::equal(workers_, situation.workers)) return;
    take_in();
    for (const WorkerId worker : workers_) {
      if (!std::ranges::binary_search(situation.workers, worker)) race_->forget(worker);
    }
    const bool first = workers_.empty();
    seen_enough_ = false;
    hanging_.clear();
    workers_.assign(situation.workers.begin(), situation.workers.end());
    book_.keep_only(workers_);
    pace_.forget();
    all_reduce_ = situation.architecture == Architecture::AllReduce;
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
    const bool waits_in_vain = !hanging_.empty() && !situation.under_way.empty();
    if (!waits_in_vain &&
        (rounds < options_.look_rounds || situation.now - looked_at_ < options_.look_least)) {
      return false;
    }
    if (sums() && !ring_.knows_sums() && !starts_slowly(situation)) return false;
    const int least = starts_slowly(situation) ? options_.tasks_slow : options_.tasks_least;
    seen_enough_ = book_.records().size() == workers_.size() &&
                   std::ranges::all_of(book_.records(), [least](const WorkerRecord& record) {
                     return record.tasks >= least;
                   });
    return seen_enough_;
  }

  // Who is waited for in vain. In all-reduce nothing can be done about it before they have ended:
  // the mode changes while nobody of the ring computes.
  void find_hanging(const Situation& situation) {
    if (situation.under_way.empty() || all_reduce_) return;
    hanging_ = hanging(book_.records(), situation.under_way, options_.plain);
  }

  // Before the first switch: who is slow beyond doubt shows it within a task or two, and every
  // round spent on making sure is one that waits for it.
  void look_early(const Situation& situation) {
    if (!notes_.empty() || seen_enough_ || (sums() && !ring_.has_sums())) return;
    if (situation.now - looked_early_at_ < options_.look_least) return;
    looked_early_at_ = situation.now;
    IterationBook seen = book_;
    for (const TaskUnderWay& task : situation.under_way) {
      if (book_.find(task.worker) != nullptr) continue;
      seen.saw({.worker = task.worker, .took = task.took, .samples = task.samples});
    }
    if (seen.records().size() != workers_.size()) return;
    const std::vector<WorkerId> slow = plainly_slow(seen.records(), options_.plain);
    if (slow.empty()) return;
    watch_.learn(slow);
    foresee_first(seen, situation);
    const ScoreSituation asked = score_situation(situation);
    const ScoredMode present = score_mode(asked, mode_);
    decide(situation, score_modes(asked), present);
  }

  void foresee_first(const IterationBook& seen, const Situation& situation) {
    const double equal = situation.global_batch / static_cast<double>(workers_.size());
    const FirstCosts first = first_costs(seen.records(), watch_.stragglers(), equal);
    times_.clear();
    score_workers_.clear();
    for (std::size_t i = 0; i < first.costs.size(); ++i) {
      const WorkerId worker = seen.records()[i].history.worker;
      // Of a task that has not ended it is not known whether a smaller batch would help.
      const bool has_ended = book_.find(worker) != nullptr || !watch_.straggles(worker);
      const TaskCost cost =
          has_ended ? first.costs[i] : TaskCost{.fixed_s = first.costs[i].at(equal)};
      times_.push_back({.worker = worker, .seconds = cost.at(equal)});
      score_workers_.push_back({.worker = worker,
                                .cost = cost,
                                .way_s = seen.records()[i].way_s,
                                .straggles = watch_.straggles(worker)});
    }
    jitter_ = kDeviationOverMean * first.scatter;
    if (all_reduce_) message_s_ = ring_.message_s(sum_members(score_workers_, mode_, equal));
  }

  // Before its first switch, and so slow that as much as is usual would take long to see.
  bool starts_slowly(const Situation& situation) const {
    return notes_.empty() && situation.now - switched_at_ >= options_.slow_start;
  }

  bool has_stayed(const Situation& situation) const {
    const double rounds = static_cast<double>(situation.samples_done - switched_samples_) /
                          std::max(1, situation.global_batch);
    if (!hanging_.empty()) return true;
    const bool first = notes_.empty();  // before it, time alone teaches nothing
    const double least = starts_slowly(situation) ? options_.tasks_slow : options_.stay_rounds;
    return rounds >= least && (first || situation.now - switched_at_ >= options_.stay_least);
  }

  // What each worker will need, if somebody foresees it better than persistence does.
  void foresee(const Situation& situation) {
    const bool foreseen_well = race_->leader() != "last" && race_->leader() != "ewma";
    const double equal = situation.global_batch / static_cast<double>(workers_.size());
    // What a sum takes beside the bytes is part of everybody's iteration, and nobody's fault.
    const double sum_s =
        all_reduce_ ? messages_of_sum(static_cast<int>(workers_.size())) * message_s_ : 0;
    times_.clear();
    score_workers_.clear();
    compute_share_ = jitter_ = 0;
    for (const WorkerRecord& record : book_.records()) {
      double factor = 1;
      if (foreseen_well) {
        const std::vector<double> next = race_->foresee(record.history, options_.ahead);
        double mean = 0;
        for (const double each : next) mean += each / static_cast<double>(next.size());
        const double batch = record.history.samples.back().samples;
        const double now = record.cost.at(batch) / batch;
        if (mean > 0 && now > 0) factor = std::clamp(mean / now, 0.2, 5.0);
      }
      TaskCost cost{record.cost.fixed_s * factor, record.cost.per_sample_s * factor};
      const auto hangs =
          std::ranges::find(hanging_, record.history.worker, &std::pair<WorkerId, double>::first);
      if (hangs != hanging_.end()) cost.fixed_s = std::max(cost.fixed_s, hangs->second);
      times_.push_back({.worker = record.history.worker,
                        .seconds = cost.at(equal) + 2 * record.way_s + sum_s,
                        // Of the smoothed time: what single tasks scatter, and less by the weight.
                        .noise_s = 0.42 * record.noise * cost.at(equal)});
      score_workers_.push_back(
          {.worker = record.history.worker, .cost = cost, .way_s = record.way_s});
      const auto n = static_cast<double>(book_.records().size());
      compute_share_ += record.compute_share / n;
      jitter_ += kDeviationOverMean * record.noise / n;
    }
    watch_.look(times_);
    for (const auto& [worker, took_s] : hanging_) watch_.learn(std::array{worker});
    for (ScoreWorker& worker : score_workers_) worker.straggles = watch_.straggles(worker.worker);
    if (all_reduce_) message_s_ = ring_.message_s(sum_members(score_workers_, mode_, equal));
  }

  ScoreSituation score_situation(const Situation& situation) const {
    return {.architecture = situation.architecture,
            .workers = score_workers_,
            .global_batch = static_cast<double>(situation.global_batch),
            .batch_least = options_.batch_least,
            .blocks = options_.blocks,
            .lambda = cost_.lambda_hoped(),
            .phi = noise_.phi().value_or(0),
            .jitter = jitter_,
            .message_s = message_s_};
  }

  void look(const Situation& situation) {
    const double passed_s = seconds(situation.now - looked_at_);
    const double samples = static_cast<double>(situation.samples_done - looked_samples_);
    looked_at_ = situation.now;
    looked_samples_ = situation.samples_done;
    foresee(situation);
    const ScoreSituation asked = score_situation(situation);
    ScoredMode present = score_mode(asked, mode_);
    present_staleness_ = present.pace.staleness;
    pace_.saw(mode_, samples / passed_s, present.pace.samples_per_s, passed_s);
    if (watch_.stragglers().empty()) {
      ScoredMode ssgd = score_mode(asked, synchronous_);
      present_features_ = features(present, ssgd, situation);
      pace_.correct(ssgd, mode_);
      pace_.correct(present, mode_);
      // Tasks that scatter are waited for too, and it can pay not to.
      const bool pays = present.time_s <= (1 - options_.move_margin) * ssgd.time_s;
      const bool may_stay = pays && !in_last_part(situation);
      if (!is_synchronous() && !may_stay && has_stayed(situation)) {
        go_to(synchronous_, "nobody straggles", situation, {ssgd, present});
      }
      return;
    }
    follow_speeds(asked, present);
    if (!is_time_to_score(situation)) return;
    std::vector<ScoredMode> all = score_modes(asked);
    for (ScoredMode& scored : all) pace_.correct(scored, mode_);
    pace_.correct(present, mode_);
    present_features_ = features(present, all.front(), situation);
    if (has_stayed(situation)) decide(situation, all, present);
  }

  // As long as the same workers straggle and the mode stays, all modes are scored less and less
  // often: it is by far the greatest part of what STAR costs.
  bool is_time_to_score(const Situation& situation) {
    const bool same = std::ranges::equal(watch_.stragglers(), scored_for_);
    if (!same) score_wait_ = options_.score_least;
    if (!awaited_ && situation.now - scored_at_ < score_wait_) return false;
    if (same && !awaited_)
      score_wait_ = std::min(2 * score_wait_, kScoreRarelyFactor * options_.score_least);
    scored_at_ = situation.now;
    scored_for_.assign(watch_.stragglers().begin(), watch_.stragglers().end());
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

  // Who is in a ring matters if somebody in it is far slower than most. Otherwise one is as good as
  // the other, and whoever is a parent looks slower for what it does for its children.
  bool ring_straggles() const {
    constexpr double kFarSlower = 1.5;
    std::vector<double> all;
    for (const WorkerTime& time : times_) all.push_back(time.seconds);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    return std::ranges::any_of(times_, [&](const WorkerTime& time) {
      return time.seconds > kFarSlower * *middle &&
             std::ranges::binary_search(mode_.ring, time.worker);
    });
  }

  bool in_last_part(const Situation& situation) const {
    return options_.samples_limit > 0 &&
           static_cast<double>(situation.samples_done) >
               (1 - options_.end_part) * static_cast<double>(options_.samples_limit);
  }

  void decide(const Situation& situation, const std::vector<ScoredMode>& all,
              const ScoredMode& present) {
    const ScoredMode& ssgd = all.front();
    const bool members_matter = ring_straggles();
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
            .straggling = straggling_degree(times_),
            .noise_ratio = noise_.phi().value_or(0) / std::max(1, situation.global_batch),
            .rate = situation.rate,
            .phase = (first_loss_ > 0 ? loss_ / first_loss_ : 1),
            .compute_share = compute_share_};
  }

  void learn(const LossWindow& window) {
    cost_.saw(window);
    if (first_loss_ == 0) first_loss_ = window.loss;
    loss_ = window.loss;
    if (!present_features_ || !(window.seconds_long() > 0)) return;
    const double per_s = window.drop * window.samples / window.seconds_long();
    selector_.saw({.features = *present_features_, .loss_drop_per_s = per_s}, cost_.lambda());
  }

  void go_to(const Mode& mode, const std::string& reason, const Situation& situation,
             const std::vector<ScoredMode>& scores) {
    const int n = static_cast<int>(workers_.size());
    SteerNote note{.at = situation.now,
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
    if (mode.ring != mode_.ring) ring_.formed();
    mode_ = mode;
    switched_at_ = situation.now;
    switched_samples_ = situation.samples_done;
    score_wait_ = options_.score_least;
    const double staleness_before = std::exchange(present_staleness_, 0);
    for (const ScoredMode& scored : scores) {
      if (same_family(scored.mode, mode)) present_staleness_ = scored.pace.staleness;
    }
    present_features_.reset();
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
  IterationBook book_;
  std::unique_ptr<PredictorRace> race_;
  StragglerWatch watch_;
  NoiseScale noise_;
  StalenessCost cost_;
  LossWindows cutter_;
  LossGuard guard_;
  PaceMemory pace_;
  std::unique_ptr<ModeRegression> regression_;
  SelectorChoice selector_;
  std::shared_ptr<ModeGrant> grant_;

  std::vector<std::variant<IterationSample, UpdateSample>> told_;
  bool seen_enough_ = false;
  std::vector<std::pair<WorkerId, double>> hanging_;  // and for how long, at the last tick

  std::vector<WorkerId> workers_;
  Mode mode_{}, synchronous_{};
  Time switched_at_{}, looked_at_{}, looked_early_at_{}, scored_at_{-std::chrono::hours(1)};
  Duration score_wait_{};
  std::vector<WorkerId> scored_for_;  // who straggled when modes were last scored
  std::int64_t switched_samples_ = 0, looked_samples_ = 0;
  double rate_ = 0;
  double compute_share_ = 1, jitter_ = 0, present_staleness_ = 0;
  RingCosts ring_{};
  double message_s_ = 0;
  double first_loss_ = 0, loss_ = 0;  // of windows
  bool all_reduce_ = false;
  bool granted_ = false;
  bool by_selector_ = false;
  std::vector<WorkerTime> times_;
  std::vector<ScoreWorker> score_workers_;
  std::optional<ModeFeatures> present_features_;
  std::vector<Refusal> refusals_;
  std::optional<Mode> awaited_;  // asked for, and not answered yet
  std::vector<SteerNote> notes_;
};

}  // namespace

std::unique_ptr<StarDirector> make_star_director(
    const StarOptions& options, std::vector<std::unique_ptr<IterationPredictor>> predictors,
    std::unique_ptr<ModeRegression> regression, std::shared_ptr<ModeGrant> grant) {
  return std::make_unique<Star>(options, std::move(predictors), std::move(regression),
                                std::move(grant));
}

}  // namespace orrery
