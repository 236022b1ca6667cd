#include "training/trainer/lease/head_place.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/files.h"
#include "training/lease/lease.h"
#include "training/trainer/transport/addresses.h"
#include "training/trainer/transport/part.h"

namespace orrery {

std::string head_place_text(const HeadPlace& place) {
  const std::string epoch = place.epoch > 0 ? fmt::format(" {}", place.epoch) : "";
  return fmt::format("{} {} {}{}\n", place.host, place.port, place.pid, epoch);
}

Result<HeadPlace> read_head_place(const std::string& folder) {
  TRY_ASSIGN(const std::string text, read_file(folder + "/head"));
  std::istringstream words(text);
  HeadPlace place;
  if (!(words >> place.host >> place.port)) return invalid("not a run's folder").at(folder);
  if (words >> place.pid) words >> place.epoch;
  place.host = beside_head(place.host);
  return place;
}

std::optional<HeadPlace> present_head(const std::string& folder) {
  auto place = read_head_place(folder);
  auto lease = LeaseFile(folder).read();
  if (!place.ok() || !lease.ok()) return std::nullopt;
  if (lease.value().released || place.value().epoch != lease.value().epoch) return std::nullopt;
  return place.value();
}

std::string run_result_path(const std::string& folder) { return folder + "/result.json"; }

bool run_is_over(const std::string& folder) {
  return access(run_result_path(folder).c_str(), F_OK) == 0;
}

Status under_each_head(PartStart start, const std::function<Status(const PartStart&)>& once) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(20);
  constexpr auto kSameHeadAgain = std::chrono::milliseconds(100);
  if (start.folder.empty()) return once(start);
  Clock::time_point lost{};
  while (!run_is_over(start.folder)) {
    const auto place = present_head(start.folder);
    const bool again = place && place->epoch == start.epoch;
    if (!place || (again && Clock::now() - lost < kSameHeadAgain)) {
      std::this_thread::sleep_for(kLook);
      continue;
    }
    start.host = place->host;
    start.port = place->port;
    start.epoch = place->epoch;
    if (once(start).ok()) break;
    lost = Clock::now();
  }
  return {};
}

}  // namespace orrery
