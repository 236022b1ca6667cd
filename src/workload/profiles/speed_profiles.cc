#include "workload/profiles/speed_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "workload/profiles/numbered.h"

namespace orrery {
namespace {

auto key_of(const SpeedProfiles::Entry& entry) {
  return std::tuple<std::string_view, int, std::string_view>(entry.model, entry.batch_size,
                                                             entry.gpu_type);
}

std::string missing(const SpeedProfiles& profiles, std::string_view model, const JobSpec& job,
                    std::string_view type) {
  const std::vector<int> batches = profiles.batches(model, type);
  if (batches.empty()) {
    return fmt::format("{} is not in {} for the GPU type '{}'", model, profiles.name(), type);
  }
  return fmt::format("{} with batch {} is not in {}; the batches of {} there: {}", model,
                     job.batch_size, profiles.name(), model, fmt::join(batches, ", "));
}

}  // namespace

Status SpeedProfiles::add(Entry entry) {
  const auto what = [&] {
    return fmt::format("{} with batch {}{}{}", entry.model, entry.batch_size,
                       entry.gpu_type.empty() ? "" : " on ", entry.gpu_type);
  };
  if (entry.curve.points.empty()) {
    return invalid(fmt::format("{}: {} cannot run on any number of GPUs", entry.place, what()));
  }
  const auto place = std::ranges::lower_bound(entries_, key_of(entry), {}, key_of);
  if (place != entries_.end() && key_of(*place) == key_of(entry)) {
    return invalid(
        fmt::format("{}: {} was given before, at {}", entry.place, what(), place->place));
  }
  entries_.insert(place, std::move(entry));
  return {};
}

std::vector<std::string> SpeedProfiles::gpu_types() const {
  std::set<std::string> types;
  for (const Entry& entry : entries_) {
    if (!entry.gpu_type.empty()) types.insert(entry.gpu_type);
  }
  return {types.begin(), types.end()};
}

Result<std::string> SpeedProfiles::choose_type(std::string_view wanted) const {
  const std::vector<std::string> types = gpu_types();
  if (types.empty()) return std::string(wanted);
  if (wanted.empty()) {
    if (types.size() == 1) return types.front();
    return invalid(
        fmt::format("{}: has profiles of several GPU types; choose one with --gpu-type: {}", name_,
                    fmt::join(types, ", ")));
  }
  if (std::ranges::find(types, wanted) == types.end()) {
    return invalid(fmt::format("{}: has no profiles of the GPU type '{}'; those there are: {}",
                               name_, wanted, fmt::join(types, ", ")));
  }
  return std::string(wanted);
}

bool SpeedProfiles::knows(std::string_view model) const {
  const auto place = std::ranges::lower_bound(entries_, model, {}, &Entry::model);
  return place != entries_.end() && place->model == model;
}

const SpeedCurve* SpeedProfiles::find(std::string_view model, int batch_size,
                                      std::string_view gpu_type) const {
  for (const std::string_view type : {gpu_type, std::string_view()}) {
    const auto key = std::tuple(model, batch_size, type);
    const auto place = std::ranges::lower_bound(entries_, key, {}, key_of);
    if (place != entries_.end() && key_of(*place) == key) return &place->curve;
  }
  return nullptr;
}

std::vector<int> SpeedProfiles::batches(std::string_view model, std::string_view gpu_type) const {
  std::vector<int> result;
  for (const Entry& entry : entries_) {
    if (entry.model == model && (entry.gpu_type.empty() || entry.gpu_type == gpu_type)) {
      result.push_back(entry.batch_size);
    }
  }
  return result;
}

Status make_elastic(const SpeedProfiles& profiles, std::string_view gpu_type,
                    std::string_view trace, Workload& workload) {
  if (!gpu_type.empty()) TRY(profiles.choose_type(gpu_type));
  Numbered<CurveId, SpeedCurve> curves;
  for (JobSpec& job : workload.jobs) {
    if (job.curve != kNoCurve) {
      job.curve = curves.id_of(workload.curves[index(job.curve)]);
      continue;
    }
    const std::string_view model = workload.name_of(job.model);
    if (model.empty() || !profiles.knows(model)) continue;
    const std::string_view own = workload.name_of(job.gpu_type);
    auto type = profiles.choose_type(own.empty() ? gpu_type : own);
    const auto place = [&] { return fmt::format("{}: job '{}'", trace, job.name); };
    if (!type.ok()) return std::move(type).error().at(place());
    const SpeedCurve* curve = profiles.find(model, job.batch_size, type.value());
    if (curve == nullptr) {
      return invalid(fmt::format("{}: {}", place(), missing(profiles, model, job, type.value())));
    }
    job.curve = curves.id_of(*curve);
  }
  workload.curves = std::move(curves).list();
  return {};
}

Status attach(const Profiles& profiles, std::string_view gpu_type, std::string_view trace,
              Workload& workload) {
  if (!profiles.speeds.entries().empty()) {
    TRY(make_elastic(profiles.speeds, gpu_type, trace, workload));
  }
  return make_sensitive(profiles.sensitivities, gpu_type, trace, workload);
}

}  // namespace orrery
