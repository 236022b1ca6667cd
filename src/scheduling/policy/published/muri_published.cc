#include <algorithm>
#include <vector>

#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/layout.h"
#include "scheduling/policy/grouping/policies.h"
#include "scheduling/policy/published/makers.h"

namespace orrery {
namespace {

// A job that has not run yet is ranked by the length it was submitted with, to which this is added
// when the trace is read.
constexpr double kSoloOverhead = 1.015;

// Muri as its simulator was released: candidates by rank, groups by matching, everything laid out
// again in each plan. What is odd about it is kept on purpose; Muri is what we would run.
class MuriPublished final : public Policy {
 public:
  explicit MuriPublished(const MuriOptions& options)
      : options_(options), grouper_(*options.workload, options.grouping, options.contention) {}

  bool adopt(const View& view, Packer& /*packer*/, JobId job, Grant& grant) override {
    return adopt_group(view, job, grant);
  }

  void plan(const View& view, Packer& packer, Plan& plan) override {
    update_line(view);
    choose_candidates(packer);
    grouper_.merge(buckets_, packer.current().gpus_total());
    choose_groups(view, packer);
    place(view, packer, plan);
  }

 private:
  struct Entry {
    double key = 0;
    JobId job = kNoJob;
    ShapeId shape{};
    int gpus = 0;
    bool marked = false;
    bool is_new = true;
  };
  struct Chosen {
    double key = 0;
    ShapeId shape{};
    Group group{};
    Devices devices{};
    bool placed = false;
  };

  double key_of(const View& view, JobId id) const {
    const Job& job = view.job(id);
    if (options_.by_attained) return seconds(job.attained_at(view.now)) * job.spec->gpus;
    const double remaining_s = view.work_left(id) * job.spec->iteration_s;
    const bool fresh = job.state == JobState::Pending;
    return (fresh ? remaining_s / kSoloOverhead : remaining_s) * job.spec->gpus;
  }

  // Ties keep the order of the last plan, in which larger jobs were moved to the front.
  void update_line(const View& view) {
    if (!view.ended.empty()) {
      std::erase_if(line_, [&](const Entry& e) { return view.has_ended(e.job); });
    }
    for (const JobId job : view.arrived) {
      line_.push_back({.job = job, .shape = view.job(job).shape, .gpus = view.spec(job).gpus});
    }
    for (Entry& entry : line_) entry.key = key_of(view, entry.job);
    std::ranges::stable_sort(line_, {}, &Entry::key);
  }

  // As many from each shape as would fill the GPUs its better-ranked ones get, several times over.
  void choose_candidates(Packer& packer) {
    bucket_of_shape_.assign(packer.shape_count(), -1);
    buckets_used_ = 0;
    by_bucket_.resize(std::max(by_bucket_.size(), packer.shape_count()));
    for (std::size_t i = 0; i < line_.size(); ++i) {
      Entry& entry = line_[i];
      entry.marked = false;
      std::int32_t& bucket = bucket_of_shape_[index(entry.shape)];
      if (bucket < 0) bucket = open_bucket(packer, entry);
      by_bucket_[static_cast<std::size_t>(bucket)].push_back(i);
    }
    Ledger& ledger = packer.blank();
    ledger.clear();
    blocked_.assign(packer.shape_count(), false);
    for (const Entry& entry : line_) {
      if (entry.marked || blocked_[index(entry.shape)]) continue;
      if (!packer.place(ledger, entry.shape, devices_)) {
        blocked_[index(entry.shape)] = true;
        continue;
      }
      const auto at = static_cast<std::size_t>(bucket_of_shape_[index(entry.shape)]);
      Bucket& bucket = buckets_[at];
      const auto& waiting = by_bucket_[at];
      for (int n = 0; n < options_.grouping.packing && bucket.groups.size() < waiting.size(); ++n) {
        Entry& next = line_[waiting[bucket.groups.size()]];
        next.marked = true;
        bucket.groups.push_back(grouper_.single(next.job));
      }
    }
    buckets_.resize(buckets_used_);
  }

  std::int32_t open_bucket(Packer& packer, const Entry& entry) {
    if (buckets_.size() == buckets_used_) buckets_.emplace_back();
    Bucket& bucket = buckets_[buckets_used_];
    bucket.shape = entry.shape;
    bucket.gpus = entry.gpus;
    bucket.size_max = Layout::size_max(packer, entry.shape, options_.grouping.packing);
    bucket.groups.clear();
    by_bucket_[buckets_used_].clear();
    return static_cast<std::int32_t>(buckets_used_++);
  }

  // Undoes groups that are slower than their members one after another, and keeps those that fit.
  void choose_groups(const View& view, Packer& packer) {
    chosen_.clear();
    const auto least_key = [&](const Group& group) {
      double least = key_of(view, group.jobs[0]);
      for (const JobId job : group.members()) least = std::min(least, key_of(view, job));
      return least;
    };
    for (const Bucket& bucket : buckets_) {
      for (const Group& group : bucket.groups) {
        if (!grouper_.kinds().at(group.kind).slower) {
          chosen_.push_back({.key = least_key(group), .shape = bucket.shape, .group = group});
          continue;
        }
        for (const JobId job : group.members()) {
          chosen_.push_back(
              {.key = key_of(view, job), .shape = bucket.shape, .group = grouper_.single(job)});
        }
      }
    }
    std::ranges::stable_sort(chosen_, {}, &Chosen::key);
    Ledger& ledger = packer.blank();
    ledger.clear();
    std::erase_if(chosen_, [&](const Chosen& chosen) {
      const ShapeId shape = Layout::shape_of(packer, chosen.shape, chosen.group.size);
      return !packer.place(ledger, shape, devices_);
    });
  }

  void place(const View& view, Packer& packer, Plan& plan) {
    std::ranges::stable_sort(line_, std::ranges::greater{}, &Entry::gpus);
    chosen_of_job_.resize(view.jobs.size(), -1);
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      for (const JobId job : chosen_[i].group.members()) {
        chosen_of_job_[index(job)] = static_cast<std::int32_t>(i);
      }
    }
    layout_.begin(view);
    Ledger& ledger = packer.blank();
    ledger.clear();
    for (Entry& entry : line_) {
      const std::int32_t at = std::exchange(chosen_of_job_[index(entry.job)], -1);
      const bool runs =
          at >= 0 && (chosen_[static_cast<std::size_t>(at)].placed ||
                      place_group(view, packer, chosen_[static_cast<std::size_t>(at)], plan));
      if (!runs && view.job(entry.job).state == JobState::Running) {
        plan.stop(entry.job, {.code = Reason::Code::Outranked});
      } else if (!runs && entry.is_new) {
        plan.wait(entry.job, packer.why_not(ledger, entry.shape));
      }
      entry.is_new = false;
    }
  }

  bool place_group(const View& view, Packer& packer, Chosen& chosen, Plan& plan) {
    const ShapeId shape = Layout::shape_of(packer, chosen.shape, chosen.group.size);
    if (!packer.place(packer.blank(), shape, chosen.devices)) return false;
    layout_.grant(view, grouper_.kinds(), chosen.group, chosen.devices, plan);
    chosen.placed = true;
    return true;
  }

  const MuriOptions options_;
  Grouper grouper_;
  Layout layout_;
  std::vector<Entry> line_;
  std::vector<Bucket> buckets_;
  std::size_t buckets_used_ = 0;
  std::vector<std::int32_t> bucket_of_shape_;
  std::vector<std::vector<std::size_t>> by_bucket_;  // places in line
  std::vector<bool> blocked_;
  std::vector<Chosen> chosen_;
  std::vector<std::int32_t> chosen_of_job_;
  Devices devices_;
};

}  // namespace

std::unique_ptr<Policy> make_muri_published(const MuriOptions& options) {
  return std::make_unique<MuriPublished>(options);
}

namespace {

// The ablation without matching was run with another factor for groups of four.
ContentionModel contention_of(const Options& options) {
  if (options.text("matching") != "none") return {};
  return ContentionModel({1, 1.33 / kSoloOverhead, 1.5 / kSoloOverhead, 1.3 / kSoloOverhead});
}

PolicyContext with_contention(const Options& options, const PolicyContext& context) {
  PolicyContext changed = context;
  changed.contention = contention_of(options);
  return changed;
}

}  // namespace

Result<std::unique_ptr<Policy>> muri_s_of_muri(const Options& options,
                                               const PolicyContext& context) {
  return kMuriSPolicy.make(options, with_contention(options, context));
}
Result<std::unique_ptr<Policy>> muri_l_of_muri(const Options& options,
                                               const PolicyContext& context) {
  return kMuriLPolicy.make(options, with_contention(options, context));
}
ReleasedLoop muri_loop(const Options& options) {
  return MuriEnds{.line = MuriEnds::Line::ByGpus, .contention = contention_of(options)};
}

}  // namespace orrery
