#include "training/mode_selection/tree/tree_director.h"

#include <algorithm>
#include <map>
#include <utility>

#include "training/mode_selection/tree/link_use.h"
#include "training/mode_selection/tree/tree_choice.h"
#include "training/mode_selection/tree/worker_times.h"

namespace orrery {
namespace {

// "hand in: 0, 1 and 4 at 2; 3 at 5".
std::string tree_text(const ParentPairs& tree) {
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

class TreeAdder final : public TreeDirector {
 public:
  TreeAdder(std::unique_ptr<Director> inner, const TreeDirectorOptions& options)
      : options_(options), inner_(std::move(inner)), try_out_{.pause = options.pause} {}

  void on_iteration(const IterationSample& sample) override {
    inner_->on_iteration(watches_ ? times_.add(sample) : sample);
  }
  void on_update(const UpdateSample& sample) override {
    if (watches_) pace_.add(sample.at, sample.samples);
    if (waits_for_all_ && !tree_.empty()) times_.refresh(tree_);
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
  enum class Stage { None, Settling, TryOut, Kept };
  struct Streaks {  // looks in a row
    int overloaded = 0, relaxed = 0, slow_parent = 0;
  };
  struct TryOut {
    double before_per_s = 0;  // samples, without the tree
    Time not_before{};
    Duration pause{};
  };

  void consider(const Situation& situation, const Mode& mode);
  void members_changed(const Situation& situation);
  void consider_none(const Situation& situation);
  void judge(Time now);
  void consider_kept(const Situation& situation);
  bool hands_on() const { return waits_for_all_ && options_.hands_on_parameters; }
  double limit() const { return waits_for_all_ ? options_.limit_alternating : options_.limit; }
  ParentPairs choose(double in_use, std::span<const WorkerId> stragglers) const;
  void end_tree(Time now, const std::string& reason);
  void note(Time now, std::string reason) { notes_.push_back({now, std::move(reason)}); }

  const TreeDirectorOptions options_;
  const std::unique_ptr<Director> inner_;
  std::vector<TreeNote> notes_{};

  LinkLook look_{};
  bool new_look_ = false;
  bool watches_ = false;  // the link is used enough for a tree to be considered
  std::vector<WorkerId> members_{};
  Mode rule_{};  // the inner director's, as far as it makes a rhythm
  bool waits_for_all_ = false, inner_has_parents_ = false;
  WorkerTimes times_{};
  UpdatePace pace_{};  // since the tree or the rule is what it is

  Stage stage_ = Stage::None;
  ParentPairs tree_{};
  bool replan_ = false;
  Streaks streaks_{};
  TryOut try_out_;
};

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
  Mode rule{.rule = mode.rule, .bound = mode.bound};
  waits_for_all_ = waits_for_all(mode, static_cast<int>(situation.workers.size()));
  rule.x = waits_for_all_ ? 0 : mode.x;
  if (!merges || rule != rule_) {
    rule_ = rule;
    pace_.clear();
    streaks_.overloaded = 0;
    if (!tree_.empty()) end_tree(situation.now, "another mode");
    if (!merges) return;
  }
  if (!std::ranges::equal(members_, situation.workers)) members_changed(situation);
  if (!std::exchange(new_look_, false)) return;
  times_.refresh(tree_);
  pace_.shorten(options_.try_out_updates, options_.try_out);
  switch (stage_) {
    case Stage::None:
      return consider_none(situation);
    case Stage::Settling:  // tasks that began without the tree are no part of its test
      stage_ = Stage::TryOut;
      return pace_.clear();
    case Stage::TryOut:
      return judge(situation.now);
    case Stage::Kept:
      return consider_kept(situation);
  }
}

void TreeAdder::members_changed(const Situation& situation) {
  members_.assign(situation.workers.begin(), situation.workers.end());
  times_.keep_only(members_);
  pace_.clear();
  streaks_.overloaded = streaks_.relaxed = 0;
  if (tree_.empty()) return;
  // There is nothing left that a test could be compared with.
  if (stage_ != Stage::Kept) {
    return end_tree(situation.now, "a worker joined or left during its test");
  }
  const auto is_here = [this](WorkerId worker) {
    return std::ranges::binary_search(members_, worker);
  };
  std::erase_if(tree_,
                [&](const auto& pair) { return !is_here(pair.first) || !is_here(pair.second); });
  replan_ = true;
  if (tree_.empty()) end_tree(situation.now, "no worker of it is left");
}

ParentPairs TreeAdder::choose(double in_use, std::span<const WorkerId> stragglers) const {
  return choose_tree({.look = look_,
                      .members = members_,
                      .stragglers = stragglers,
                      .busy_s = times_.median_busy_s(),
                      .in_use = in_use,
                      .waits_for_all = waits_for_all_,
                      .hands_on_parameters = hands_on(),
                      .limit = options_.planned,
                      .gain_predicted = options_.gain_predicted});
}

void TreeAdder::consider_none(const Situation& situation) {
  const ServerLinkUse use = link_use(look_, look_.in, look_.out, waits_for_all_);
  watches_ = use.waited > options_.watched * limit();
  streaks_.overloaded = use.waited > limit() ? streaks_.overloaded + 1 : 0;
  if (streaks_.overloaded < options_.looks || situation.now < try_out_.not_before) return;
  if (!pace_.is_long_enough(options_.try_out_updates, options_.try_out)) return;
  const double relieved = hands_on() ? use.waited : use.in;
  ParentPairs tree = choose(std::min(1.0, relieved), times_.stragglers(options_.straggles));
  if (tree.empty()) return;
  tree_ = std::move(tree);
  try_out_.before_per_s = pace_.samples_per_s();
  times_.tree_begins();
  stage_ = Stage::Settling;
  streaks_.overloaded = 0;
  note(situation.now,
       "the servers' link is used at " + use.text() + "; workers " + tree_text(tree_));
}

void TreeAdder::judge(Time now) {
  if (!pace_.is_long_enough(options_.try_out_updates, options_.try_out)) return;
  const double after = pace_.samples_per_s();
  if (after >= try_out_.before_per_s * (1 + options_.gain_least)) {
    stage_ = Stage::Kept;
    try_out_.pause = options_.pause;
    streaks_.relaxed = streaks_.slow_parent = 0;
    return;
  }
  try_out_.not_before = now + try_out_.pause;
  try_out_.pause *= 2;
  end_tree(now, std::to_string(static_cast<int>(after)) + " samples a second with a tree, " +
                    std::to_string(static_cast<int>(try_out_.before_per_s)) + " without");
}

void TreeAdder::consider_kept(const Situation& situation) {
  // What would flow without the tree, at the pace that it made possible.
  if (const double pace = pace_.samples_per_s(); pace > 0 && situation.global_batch > 0) {
    const double gradients = pace * static_cast<double>(members_.size()) / situation.global_batch;
    const ServerLinkUse use =
        link_use(look_, gradients * look_.gradient_bytes * look_.part,
                 gradients * look_.parameter_bytes * look_.part, waits_for_all_);
    streaks_.relaxed = use.waited < options_.relaxed * limit() ? streaks_.relaxed + 1 : 0;
    if (streaks_.relaxed >= options_.relaxed_looks) {
      return end_tree(situation.now, "without it the servers' link would be used at " + use.text());
    }
  }
  const std::vector<WorkerId> stragglers = times_.stragglers(options_.straggles);
  const bool slow = std::ranges::any_of(
      tree_, [&](const auto& pair) { return std::ranges::binary_search(stragglers, pair.second); });
  streaks_.slow_parent = slow ? streaks_.slow_parent + 1 : 0;
  if (!replan_ && streaks_.slow_parent < options_.looks) return;
  ParentPairs tree = choose(1, stragglers);
  if (tree.empty()) {
    return end_tree(situation.now, "no tree would help the workers of now");
  }
  if (tree != tree_) {
    const std::string why = replan_ ? "a worker joined or left" : "a parent straggles";
    note(situation.now, why + "; workers " + tree_text(tree));
  }
  tree_ = std::move(tree);
  replan_ = false;
  streaks_.slow_parent = 0;
}

void TreeAdder::end_tree(Time now, const std::string& reason) {
  tree_.clear();
  stage_ = Stage::None;
  pace_.clear();
  replan_ = false;
  streaks_ = {};
  note(now, "no tree: " + reason);
}

}  // namespace

std::unique_ptr<TreeDirector> make_tree_director(std::unique_ptr<Director> inner,
                                                 const TreeDirectorOptions& options) {
  return std::make_unique<TreeAdder>(std::move(inner), options);
}

}  // namespace orrery
