#include "commands/programs/profile_finder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/nearest_word.h"
#include "workload/profiles/speed_profiles.h"

namespace orrery {
namespace {

struct Named {
  std::string_view model;
  int batch_size = 0;  // 0: the only one there is
};

class Finder {
 public:
  Finder(Profiles profiles, std::string gpu_type)
      : profiles_(std::move(profiles)), gpu_type_(std::move(gpu_type)) {
    for (const auto& entry : profiles_.speeds.entries()) models_.insert(entry.model);
    for (const auto& entry : profiles_.sensitivities.entries()) models_.insert(entry.model);
  }

  Status fill(JobRequest& request) const {
    if (request.model.empty()) return {};
    TRY_ASSIGN(const Named named, name_in(request.model));
    const std::string& type = request.gpu_type.empty() ? gpu_type_ : request.gpu_type;
    const bool elastic = request.gpus_max > request.gpus_min;
    if (elastic && profiles_.speeds.knows(named.model)) TRY(find_speeds(named, type, request));
    TRY_ASSIGN(const auto* entry,
               profiles_.sensitivities.find(named.model, named.batch_size, type));
    if (entry != nullptr) request.sensitivity = entry->sensitivity;
    return {};
  }

 private:
  Result<Named> name_in(std::string_view text) const {
    if (models_.contains(text)) return Named{.model = text};
    const auto colon = text.rfind(':');
    const std::string_view model = text.substr(0, colon);
    if (colon != std::string_view::npos && models_.contains(model)) {
      Named named{.model = model};
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data() + colon + 1, end, named.batch_size);
      if (read.ec == std::errc() && read.ptr == end && named.batch_size > 0) return named;
      return invalid(fmt::format("'{}': write MODEL:BATCH, as in {}:64", text, model));
    }
    if (models_.empty()) return invalid("the scheduler's profiles know no model");
    const std::vector<std::string_view> known(models_.begin(), models_.end());
    return invalid(fmt::format("the scheduler has no profile of '{}'; the nearest is '{}'", text,
                               nearest_word(model, known)));
  }

  Status find_speeds(const Named& named, std::string_view type_wanted, JobRequest& request) const {
    TRY_ASSIGN(const std::string type, profiles_.speeds.choose_type(type_wanted));
    std::vector<int> batches = profiles_.speeds.batches(named.model, type);
    batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
    if (batches.empty()) {
      return invalid(fmt::format("{} was not measured on the GPU type '{}'", named.model, type));
    }
    const int batch = named.batch_size == 0 && batches.size() == 1 ? batches[0] : named.batch_size;
    const SpeedCurve* curve = profiles_.speeds.find(named.model, batch, type);
    if (curve == nullptr) {
      return invalid(fmt::format("{} was measured with the batches {}; write {}:{} or another",
                                 named.model, fmt::join(batches, ", "), named.model, batches[0]));
    }
    std::vector<int> counts;
    for (const SpeedCurve::Point& point : curve->points) counts.push_back(point.gpus);
    if (std::ranges::find(counts, request.gpus) == counts.end()) {
      return invalid(fmt::format(
          "{} was measured on {} GPUs, not on {}: ask for one of these with --gpus, or leave "
          "--profile out",
          named.model, fmt::join(counts, ", "), request.gpus));
    }
    request.speeds = *curve;
    return {};
  }

  const Profiles profiles_;
  const std::string gpu_type_;
  std::set<std::string, std::less<>> models_;
};

}  // namespace

Result<std::function<Status(JobRequest&)>> profile_finder(const std::string& path,
                                                          const std::string& gpu_type) {
  TRY_ASSIGN(Profiles profiles, read_all_profiles(path));
  if (!gpu_type.empty()) TRY(profiles.speeds.choose_type(gpu_type));
  const auto finder = std::make_shared<const Finder>(std::move(profiles), gpu_type);
  return std::function<Status(JobRequest&)>([finder](JobRequest& request) -> Status {
    Status filled = finder->fill(request);
    if (!filled.ok()) return std::move(filled).error().at("profile");
    return filled;
  });
}

}  // namespace orrery
