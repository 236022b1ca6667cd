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
#include "workload/sensitivity_profiles.h"

namespace orrery {

// Collects the jobs of a workload in any order and hands them over in order of submission, jobs of
// one instant in the order they came. Names, stage profiles and speed curves are kept once each and
// numbered by first use in that order, so equal jobs make equal workloads whatever the order they
// came in.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::string name) { workload_.name = std::move(name); }

  // For readers of traces whose models say how fast jobs are: figures that come before built-in
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

  // Refuses a job whose name is taken. The id of the job is set by finish().
  Status add(JobSpec job);

  // Keeps the first `limit` jobs; 0: all.
  Workload finish(std::int64_t limit) &&;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  bool taken(std::string_view name) const;
  void remember(std::size_t job);
  void sort_jobs();
  void number_tables();

  Workload workload_;
  const SensitivityProfiles* known_ = nullptr;
  std::string known_type_;
  std::unordered_map<std::string, NameId, Hash, std::equal_to<>> names_;
  std::unordered_map<std::string, ProfileId, Hash, std::equal_to<>> profiles_;  // by their bytes
  std::unordered_map<std::string, CurveId, Hash, std::equal_to<>> curves_;      // by their bytes
  std::string key_;
  // Jobs by the hash of their name, open addressing, 0: free, else the job's index + 1. A set of
  // strings would take as much memory as the jobs.
  std::vector<std::uint32_t> slots_;
};

}  // namespace orrery
