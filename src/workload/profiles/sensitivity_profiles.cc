#include "workload/profiles/sensitivity_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "workload/profiles/numbered.h"

namespace orrery {
namespace {

auto key_of(const SensitivityProfiles::Entry& entry) {
  return std::tuple<std::string_view, int, std::string_view>(entry.model, entry.batch_size,
                                                             entry.gpu_type);
}

std::string text_of(const SensitivityProfiles::Entry& entry) {
  std::string text = entry.model;
  if (entry.batch_size > 0) text += fmt::format(" with batch {}", entry.batch_size);
  if (!entry.gpu_type.empty()) text += " on " + entry.gpu_type;
  return text;
}

// How well what was measured answers what is asked for: -1 not at all, 0 as the only one there is,
// 1 as good for any, 2 as the very same.
template <class Value>
int match(const Value& measured, const Value& asked) {
  if (measured == Value{}) return 1;
  if (asked == Value{}) return 0;
  return measured == asked ? 2 : -1;
}

}  // namespace

Status SensitivityProfiles::add(Entry entry) {
  const auto place = std::ranges::lower_bound(entries_, key_of(entry), {}, key_of);
  if (place != entries_.end() && key_of(*place) == key_of(entry)) {
    return invalid(
        fmt::format("{}: {} was given before, at {}", entry.place, text_of(entry), place->place));
  }
  entries_.insert(place, std::move(entry));
  return {};
}

Result<const SensitivityProfiles::Entry*> SensitivityProfiles::find(
    std::string_view model, int batch_size, std::string_view gpu_type) const {
  const Entry* best = nullptr;
  int best_match = -1;
  bool several = false;
  std::vector<std::string> known;
  for (auto entry = std::ranges::lower_bound(entries_, model, {}, &Entry::model);
       entry != entries_.end() && entry->model == model; ++entry) {
    known.push_back(text_of(*entry));
    const int type = match(std::string_view(entry->gpu_type), gpu_type);
    const int batch = match(entry->batch_size, batch_size);
    if (type < 0 || batch < 0 || 3 * type + batch < best_match) continue;
    several = 3 * type + batch == best_match;
    best_match = 3 * type + batch;
    best = &*entry;
  }
  if (known.empty() || (best != nullptr && !several)) return best;
  Entry asked;
  asked.model = model;
  asked.batch_size = batch_size;
  asked.gpu_type = gpu_type;
  return invalid(fmt::format(
      "{} {}; measured were: {}", text_of(asked),
      several ? "may be several of those measured" : "was not measured with CPUs and memory",
      fmt::join(known, ", ")));
}

Status make_sensitive(const SensitivityProfiles& profiles, std::string_view gpu_type,
                      std::string_view trace, Workload& workload) {
  if (profiles.entries().empty()) return {};
  Numbered<SensitivityId, Sensitivity> table;
  for (JobSpec& job : workload.jobs) {
    if (job.sensitivity != kNoSensitivity) {
      job.sensitivity = table.id_of(workload.sensitivities[index(job.sensitivity)]);
      continue;
    }
    if (job.model == kNoName) continue;
    const std::string_view own = workload.name_of(job.gpu_type);
    auto found =
        profiles.find(workload.name_of(job.model), job.batch_size, own.empty() ? gpu_type : own);
    if (!found.ok()) {
      return std::move(found).error().at(fmt::format("{}: job '{}'", trace, job.name));
    }
    if (found.value() != nullptr) job.sensitivity = table.id_of(found.value()->sensitivity);
  }
  workload.sensitivities = std::move(table).list();
  return {};
}

}  // namespace orrery
