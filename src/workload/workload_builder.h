#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "workload/profiles/sensitivity_profiles.h"

namespace orrery {

// Collects the jobs of a workload in any order and hands them over in order of submission, jobs of
// one instant in the order they came. Names, stage profiles and speed curves are kept once each and
// numbered by first use in that order, so equal jobs make equal workloads whatever the order they
// came in.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::string name) { workload_.name = std::move(name); }

  // For traces in which models say how fast jobs are: figures that come before built-in
  // ones, of a GPU type. They must outlive the builder.
  void know(const SensitivityProfiles& profiles, std::string_view gpu_type) {
    known_ = &profiles;
    known_type_ = gpu_type;
  }
  // Null: nothing known, as far as that goes.
  Result<const SensitivityProfiles::Entry*> known(std::string_view model) const {
    if (known_ == nullptr) return nullptr;
    return known_->find(model, 0, known_type_);
  }

  NameId name_id(std::string_view name);  // kNoName for an empty one
  ProfileId profile_id(std::span<const double> stage_s, std::span<const int> slots);
  CurveId curve_id(SpeedCurve curve);  // kNoCurve for one without points
  SensitivityId sensitivity_id(const Sensitivity& sensitivity);

  // For a job whose name no other has, which is not checked.
  Status append(JobSpec&& job);
  // Refuses a job with a name that is taken. The id of the job is set by finish().
  Status add(JobSpec job);
  // The same; false where the name is taken.
  Result<bool> add_if_new(JobSpec job);

  // Counts something odd; `what` and `left_out` as in Oddity.
  void note_left_out(std::string_view what, std::int64_t line) { note(what, line, true); }
  void note_kept(std::string_view what, std::int64_t line) { note(what, line, false); }

  // For traces that give dates: finish() makes the first submission time 0.
  void begin_at_first_submission() { begins_at_first_ = true; }

  // Keeps the first `limit` jobs; 0: all.
  Workload finish(std::int64_t limit) &&;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  void note(std::string_view what, std::int64_t line, bool left_out);
  std::size_t slot_of(std::string_view name, std::uint32_t tag) const;
  void grow_slots();
  void sort_jobs();
  void number_tables();

  Workload workload_;
  bool begins_at_first_ = false;
  bool sorted_ = true;  // the jobs so far came in order of submission
  const SensitivityProfiles* known_ = nullptr;
  std::string known_type_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> names_;
  std::unordered_map<std::string, ProfileId, Hash, std::equal_to<>> profiles_;  // by their bytes
  std::unordered_map<std::string, CurveId, Hash, std::equal_to<>> curves_;      // by their bytes
  std::string key_;
  // Jobs by the hash of their name, open addressing. A set of strings would take as much memory as
  // the jobs. The tag, 32 bits of the hash, spares a look at a job that is not the one meant.
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t job = 0;  // its index + 1; 0: free
  };
  std::vector<Slot> slots_;
};

}  // namespace orrery
