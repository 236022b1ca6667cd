#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace orrery {

// How the event log spells the model's enumerations, each in the order of its enum.
inline constexpr std::array<std::string_view, 27> kReasonNames = {
    "none",          "gpus_busy",   "fragmented", "cpus_busy",     "memory_busy",
    "behind_others", "outranked",   "reserved",   "too_large",     "no_such_node",
    "cancelled",     "node_lost",   "quantum",    "deadline_past", "too_late",
    "promised",      "later",       "too_dear",   "quota",         "dependency",
    "retry",         "not_here",    "requested",  "priority",      "policy_changed",
    "user_limit",    "tenant_limit"};

inline constexpr std::array<std::string_view, 4> kSharingNames = {"exclusive", "interleaved",
                                                                  "guaranteed", "opportunistic"};

inline constexpr std::array<std::string_view, 2> kDeadlineNames = {"hard", "soft"};

template <class Enum, std::size_t N>
std::string_view spelled(const std::array<std::string_view, N>& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace orrery
