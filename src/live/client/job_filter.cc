#include "live/client/job_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace orrery {
namespace {

constexpr std::array kStates = {JobState::Pending,  JobState::Running, JobState::Paused,
                                JobState::Done,     JobState::Failed,  JobState::Rejected,
                                JobState::Cancelled};

bool fits(const std::string& pattern, const std::string& text) {
  return pattern.empty() || pattern == text || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

// Jobs of an array are called NAME[INDEX].
std::string without_index(const std::string& name) {
  return name.ends_with(']') ? name.substr(0, name.rfind('[')) : name;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

bool JobFilter::matches(const JobStatus& job) const {
  const bool in_state = states.empty() || std::ranges::find(states, job.state) != states.end();
  return in_state && (fits(name, job.name) || fits(name, without_index(job.name))) &&
         fits(user, job.user);
}

bool JobFilter::wants_ended() const { return std::ranges::any_of(states, is_final); }

std::optional<std::vector<JobState>> parse_job_states(const std::string& text) {
  std::vector<JobState> states;
  for (std::string_view rest = text;;) {
    const std::string word = lower(rest.substr(0, rest.find(',')));
    const auto found =
        std::ranges::find(kStates, word, [](JobState state) { return lower(to_string(state)); });
    if (found == kStates.end()) return std::nullopt;
    states.push_back(*found);
    if (rest.find(',') == std::string_view::npos) return states;
    rest.remove_prefix(rest.find(',') + 1);
  }
}

std::string all_job_states() {
  std::string all;
  for (const JobState state : kStates) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", lower(to_string(state)));
  }
  return all;
}

}  // namespace orrery
