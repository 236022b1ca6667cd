#include "training/mode_selection/tree/tree_director.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "training/mode_selection/tree/tree.h"

namespace orrery {
namespace {

using Parents = std::vector<std::pair<WorkerId, WorkerId>>;

constexpr double kEndless = 1e18;  // what a link without a limit carries
constexpr std::size_t kTimesKept = 5, kTimesLeast = 3;

double or_endless(double rate) { return rate > 0 ? rate : kEndless; }

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::string percent(double share) {
  return std::to_string(static_cast<int>(100 * share + 0.5)) + " %";
}

// "workers 0, 1 and 4 hand in at 2; 3 at 5".
std::string told(const Parents& tree) {
  std::map<WorkerId, std::vector<WorkerId>> children;
  for (const auto& [child, parent] : tree) children[parent].push_back(child);
  std::string text;
  for (const auto& [parent, of_it] : children) {
    text += text.empty() ? "" : "; ";
    for (std::size_t i = 0; i < of_it.size(); ++i) {
      if (i > 0) text += i + 1 == of_it.size() ? " and " : ", ";
      text += std::to_string(static_cast<int>(of_it[i]));
    }
    text += " at " + std::to_string(static_cast<int>(parent));
  }
  return "hand in: " + text;
}

// How many samples a second updates use, from one update to another.
class Stretch {
 public:
  void add(Time at, std::int32_t samples) { updates_.push_back({at, samples}); }
  void clear() { updates_.clear(); }
  // Keeps what is needed for a stretch that is long enough, and no more.
  void shorten(int updates, Duration length) {
    while (std::ssize(updates_) > updates + 1 && updates_.back().at - updates_[1].at >= length) {
      updates_.pop_front();
    }
  }
  bool long_enough(int updates, Duration length) const {
    return std::ssize(updates_) > updates && updates_.back().at - updates_.front().at >= length;
  }
  double samples_per_s() const {
    if (updates_.size() < 2) return 0;
    double samples = -static_cast<double>(updates_.front().samples);
    for (const One& one : updates_) samples += one.samples;
    return samples / std::max(1e-9, seconds(updates_.back().at - updates_.front().at));
  }

 private:
  struct One {
    Time at{};
    std::int32_t samples = 0;
  };
  std::deque<One> updates_{};
};

class TreeAdder final : public TreeDirector {
 public:
  TreeAdder(std::unique_ptr<Director> inner, const TreeDirectorOptions& options)
      : options_(options), inner_(std::move(inner)), pause_(options.pause) {}

  void on_iteration(const IterationSample& sample) override;
  void on_update(const UpdateSample& sample) override {
    if (watches_) stretch_.add(sample.at, sample.samples);
    if (in_turns_ && !tree_.empty()) {
      take_in();
      drift_ = drift();
    }
    inner_->on_update(sample);
  }
  void on_evaluation(const EvaluationSample& sample) override { inner_->on_evaluation(sample); }
  void on_links(const LinkLook& look) override {
    look_ = look;
    new_look_ = true;
  }
  Mode direct(const Situation& situation) override;
  std::span<const TreeNote> notes() const override { return notes_; }

 private:
  enum class Stage { None, Settling, MatrixRun, Kept };
  // Shares of the link in which it carries gradients, and in which everybody waits for it.
  struct Use {
    double in = 0, out = 0, all = 0;
    std::string text() const { return percent(in) + " in and " + percent(out) + " out"; }
  };
  struct Times {
    std::deque<double> took_s{}, busy_s{};
    double before_tree_s = 0;  // what it took then; 0: not known
    bool merged = false;       // the last one was
    double median_s() const {
      return took_s.size() < kTimesLeast ? 0 : median_of({took_s.begin(), took_s.end()});
    }
  };

  struct Told {
    WorkerId worker{};
    double took_s = 0, busy_s = 0;  // 0: not known
    bool merged = false;
  };

  void take_in();
  void consider(const Situation& situation, const Mode& mode);
  void members_changed(const Situation& situation);
  void consider_none(Time now);
  void judge(Time now);
  void consider_kept(Time now);
  Use use_of(double in, double out) const;
  bool hands_on() const { return in_turns_ && options_.hands_on_parameters; }
  double limit() const { return in_turns_ ? options_.limit_in_turns : options_.limit; }
  std::vector<WorkerId> stragglers() const;
  double drift() const;
  double median_busy_s() const;
  double rate_wanted() const;
  Parents plan(double in_use) const;
  void end_tree(Time now, const std::string& reason);
  void note(Time now, std::string reason) { notes_.push_back({now, std::move(reason)}); }

  const TreeDirectorOptions options_;
  const std::unique_ptr<Director> inner_;
  std::vector<TreeNote> notes_{};

  LinkLook look_{};
  bool new_look_ = false;
  bool watches_ = false;  // the link is used enough for a tree to be thought of
  std::vector<WorkerId> members_{};
  Mode rule_{};  // the inner director's, as far as it makes a rhythm
  bool in_turns_ = false, inner_has_parents_ = false;
  std::vector<Told> told_{};  // and not yet in the times: there is no use for it between looks
  std::map<WorkerId, Times> times_{};
  double drift_ = 1;
  Stretch stretch_{};  // since the tree or the rule is what it is
  double batch_ = 0;   // global

  Stage stage_ = Stage::None;
  Parents tree_{};
  bool replan_ = false;
  int overloaded_ = 0, relaxed_ = 0, slow_parent_ = 0;
  double before_ = 0;  // samples a second
  Time not_before_{};
  Duration pause_;
};

void TreeAdder::on_iteration(const IterationSample& sample) {
  if (!watches_) return inner_->on_iteration(sample);
  const double busy =
      sample.merged ? 0 : std::min(1.0, sample.usage.cpu_share + sample.usage.throttled_share);
  const double took_s = seconds(sample.took);
  told_.push_back({sample.worker, took_s, busy * took_s, sample.merged});
  if (!sample.merged) return inner_->on_iteration(sample);
  IterationSample passed_on = sample;
  const double before_s = times_[sample.worker].before_tree_s;
  if (before_s > 0) passed_on.took = std::min(sample.took, from_seconds(before_s * drift_));
  told_.back().took_s = seconds(passed_on.took);
  inner_->on_iteration(passed_on);
}

void TreeAdder::take_in() {
  const auto put = [](std::deque<double>& newest, double value) {
    newest.push_back(value);
    if (newest.size() > kTimesKept) newest.pop_front();
  };
  for (const Told& told : told_) {
    Times& times = times_[told.worker];
    times.merged = told.merged;
    put(times.took_s, told.took_s);
    if (told.busy_s > 0) put(times.busy_s, told.busy_s);
  }
  told_.clear();
}

Mode TreeAdder::direct(const Situation& situation) {
  Mode mode;
  const Mode& present = *situation.mode;
  if (present.parents.empty() || present.rule == SyncRuleKind::Ring || inner_has_parents_) {
    mode = inner_->direct(situation);
  } else {
    Mode shown = present;
    shown.parents.clear();
    Situation as_if = situation;
    as_if.mode = &shown;
    mode = inner_->direct(as_if);
  }
  inner_has_parents_ = !mode.parents.empty();
  if (watches_ || new_look_) consider(situation, mode);
  if (!tree_.empty()) mode.parents = tree_;
  return mode;
}

void TreeAdder::consider(const Situation& situation, const Mode& mode) {
  const bool merges = situation.architecture == Architecture::ParameterServers &&
                      mode.rule != SyncRuleKind::Ring && mode.rule != SyncRuleKind::Lgc &&
                      mode.ring.empty() && mode.parents.empty();
  const auto workers = static_cast<int>(situation.workers.size());
  Mode rule{.rule = mode.rule, .bound = mode.bound};
  in_turns_ = waits_for_all(mode, workers);
  rule.x = in_turns_ ? 0 : mode.x;
  if (!merges || rule != rule_) {
    rule_ = rule;
    stretch_.clear();
    overloaded_ = 0;
    if (!tree_.empty()) end_tree(situation.now, "another mode");
    if (!merges) return;
  }
  batch_ = situation.global_batch;
  if (!std::ranges::equal(members_, situation.workers)) members_changed(situation);
  if (!std::exchange(new_look_, false)) return;
  take_in();
  drift_ = drift();
  stretch_.shorten(options_.trial_updates, options_.trial);
  if (stage_ == Stage::None) return consider_none(situation.now);
  // What came of tasks that began without it is no part of its trial.
  if (stage_ == Stage::Settling) {
    stage_ = Stage::MatrixRun;
    return stretch_.clear();
  }
  if (stage_ == Stage::MatrixRun) return judge(situation.now);
  consider_kept(situation.now);
}

void TreeAdder::members_changed(const Situation& situation) {
  members_.assign(situation.workers.begin(), situation.workers.end());
  take_in();
  const auto is_here = [this](WorkerId worker) {
    return std::ranges::binary_search(members_, worker);
  };
  std::erase_if(times_, [&](const auto& one) { return !is_here(one.first); });
  stretch_.clear();
  overloaded_ = relaxed_ = 0;
  if (tree_.empty()) return;
  // There is nothing left that a trial could be compared with.
  if (stage_ != Stage::Kept)
    return end_tree(situation.now, "somebody came or left during its trial");
  std::erase_if(tree_,
                [&](const auto& pair) { return !is_here(pair.first) || !is_here(pair.second); });
  replan_ = true;
  if (tree_.empty()) end_tree(situation.now, "nobody of it is left");
}

TreeAdder::Use TreeAdder::use_of(double in, double out) const {
  const double in_share = look_.may_in > 0 ? in / look_.may_in : 0;
  const double out_share = look_.may_out > 0 ? out / look_.may_out : 0;
  // Where directions do not take turns, the one that no tree relieves is not looked at.
  return {.in = in_share, .out = out_share, .all = in_turns_ ? in_share + out_share : in_share};
}

void TreeAdder::consider_none(Time now) {
  const Use use = use_of(look_.in, look_.out);
  watches_ = use.all > options_.watched * limit();
  overloaded_ = use.all > limit() ? overloaded_ + 1 : 0;
  if (overloaded_ < options_.looks || now < not_before_) return;
  if (!stretch_.long_enough(options_.trial_updates, options_.trial)) return;
  const double relieved = hands_on() ? use.all : use.in;
  Parents tree = plan(std::min(1.0, relieved));
  if (tree.empty()) return;
  tree_ = std::move(tree);
  before_ = stretch_.samples_per_s();
  for (auto& [worker, times] : times_) times.before_tree_s = times.median_s();
  stage_ = Stage::Settling;
  overloaded_ = 0;
  note(now, "the servers' link is used at " + use.text() + "; workers " + told(tree_));
}

void TreeAdder::judge(Time now) {
  if (!stretch_.long_enough(options_.trial_updates, options_.trial)) return;
  const double after = stretch_.samples_per_s();
  if (after >= before_ * (1 + options_.gain_least)) {
    stage_ = Stage::Kept;
    pause_ = options_.pause;
    relaxed_ = slow_parent_ = 0;
    return;
  }
  not_before_ = now + pause_;
  pause_ *= 2;
  end_tree(now, std::to_string(static_cast<int>(after)) + " samples a second with a tree, " +
                    std::to_string(static_cast<int>(before_)) + " without");
}

void TreeAdder::consider_kept(Time now) {
  // What flows without it, at the pace that it made possible.
  if (const double pace = stretch_.samples_per_s(); pace > 0 && batch_ > 0) {
    const double gradients = pace * static_cast<double>(members_.size()) / batch_;
    const Use use = use_of(gradients * look_.gradient_bytes * look_.part,
                           gradients * look_.parameter_bytes * look_.part);
    relaxed_ = use.all < options_.relaxed * limit() ? relaxed_ + 1 : 0;
    if (relaxed_ >= options_.relaxed_looks) {
      return end_tree(now, "without it the servers' link would be used at " + use.text());
    }
  }
  const std::vector<WorkerId> slow_ones = stragglers();
  const bool slow = std::ranges::any_of(
      tree_, [&](const auto& pair) { return std::ranges::binary_search(slow_ones, pair.second); });
  slow_parent_ = slow ? slow_parent_ + 1 : 0;
  if (!replan_ && slow_parent_ < options_.looks) return;
  Parents tree = plan(1);
  if (tree.empty()) return end_tree(now, "no tree would help those who are there now");
  if (tree != tree_) {
    const std::string why = replan_ ? "somebody came or left" : "a parent straggles";
    note(now, why + "; workers " + told(tree));
  }
  tree_ = std::move(tree);
  replan_ = false;
  slow_parent_ = 0;
}

// Ascending.
std::vector<WorkerId> TreeAdder::stragglers() const {
  const auto its_s = [this](const Times& times) {
    return times.merged ? drift_ * times.before_tree_s : times.median_s();
  };
  std::vector<double> all;
  for (const auto& [worker, times] : times_) {
    if (its_s(times) > 0) all.push_back(its_s(times));
  }
  const double most_s = options_.straggles * median_of(std::move(all));
  std::vector<WorkerId> slow;
  for (const auto& [worker, times] : times_) {
    if (its_s(times) > most_s) slow.push_back(worker);
  }
  return slow;
}

// How many times as long as before the tree tasks take that nobody waits with: what has changed for
// everybody, so of those who hand in by themselves the least.
double TreeAdder::drift() const {
  double least = 0;
  for (const auto& [worker, times] : times_) {
    if (std::ranges::binary_search(tree_, worker, {}, &Parents::value_type::first)) continue;
    const double now_s = times.median_s();
    if (!(now_s > 0) || !(times.before_tree_s > 0)) continue;
    const double ratio = now_s / times.before_tree_s;
    least = least > 0 ? std::min(least, ratio) : ratio;
  }
  return least > 0 ? least : 1;
}

double TreeAdder::median_busy_s() const {
  std::vector<double> all;
  for (const auto& [worker, times] : times_) {
    if (times.busy_s.empty()) continue;
    all.push_back(median_of({times.busy_s.begin(), times.busy_s.end()}));
  }
  return median_of(std::move(all));
}

// What a worker would hand in a second if the servers' link were endless. Where all wait for each
// other they hand in at the same time, so each as fast as its own link is; otherwise as much as it
// computes, between what its own link needs.
double TreeAdder::rate_wanted() const {
  std::vector<double> in, out;
  for (const LinkLook::Worker& worker : look_.workers) {
    in.push_back(or_endless(worker.in));
    out.push_back(or_endless(worker.out));
  }
  const double own_in = median_of(std::move(in)), own_out = median_of(std::move(out));
  const double most = or_endless(look_.may_in) / look_.part;
  if (in_turns_) return std::min(own_out, most);
  const double task_s = median_busy_s() + look_.parameter_bytes / std::max(own_in, 1.0) +
                        look_.gradient_bytes / std::max(own_out, 1.0);
  return std::min(look_.gradient_bytes / std::max(task_s, 1e-9), most);
}

// The tree that bears the highest rate. `in_use`: the part of the time that it can make shorter.
Parents TreeAdder::plan(double in_use) const {
  constexpr double kStep = 0.97;
  if (!(look_.may_in > 0) || !(look_.gradient_bytes > 0) || members_.size() < 2) return {};
  const double in = look_.may_in / look_.part, out = or_endless(look_.may_out) / look_.part;
  const double down = look_.parameter_bytes / look_.gradient_bytes;
  const double alone = in / static_cast<double>(members_.size());
  const std::vector<WorkerId> slow = stragglers();
  for (double rate = rate_wanted(); rate > alone; rate *= kStep) {
    if (in_use * (1 - alone / rate) < options_.gain_predicted) break;
    std::vector<TreeWorker> workers;
    for (const LinkLook::Worker& link : look_.workers) {
      if (!std::ranges::binary_search(members_, link.worker)) continue;
      // Its own parameters do not come while gradients go, where these take turns.
      const double own_in = in_turns_ ? 0 : rate * down;
      const double own_out = in_turns_ ? 0 : rate;
      workers.push_back({.worker = link.worker,
                         .spare_in = std::max(0.0, or_endless(link.in) - own_in),
                         .spare_out = std::max(0.0, or_endless(link.out) - own_out),
                         .straggles = std::ranges::binary_search(slow, link.worker)});
    }
    auto tree = plan_tree(workers, {.gradient_bytes_per_s = rate,
                                    .parameter_bytes_per_s = hands_on() ? rate * down : 0,
                                    .server_in = in,
                                    .server_out = out,
                                    .limit = options_.planned});
    if (tree) return *std::move(tree);
  }
  return {};
}

void TreeAdder::end_tree(Time now, const std::string& reason) {
  tree_.clear();
  stage_ = Stage::None;
  stretch_.clear();
  replan_ = false;
  overloaded_ = relaxed_ = slow_parent_ = 0;
  note(now, "no tree: " + reason);
}

}  // namespace

std::unique_ptr<TreeDirector> make_tree_director(std::unique_ptr<Director> inner,
                                                 const TreeDirectorOptions& options) {
  return std::make_unique<TreeAdder>(std::move(inner), options);
}

}  // namespace orrery
