#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// By which rules the runs of a `reproduce` are made.
struct Worlds {
  bool published = true;
  bool ours = true;
};

inline Result<Worlds> choose_worlds(const std::vector<std::string>& names,
                                    std::string_view system) {
  if (names.empty()) return Worlds{};
  Worlds worlds{.published = false, .ours = false};
  for (const std::string& name : names) {
    if (name != system && name != "orrery") {
      return invalid(fmt::format("--semantics {}: here there are {} and orrery", name, system));
    }
    (name == "orrery" ? worlds.ours : worlds.published) = true;
  }
  return worlds;
}

// The figure of this name, or all of them.
template <class Figure>
Result<std::vector<const Figure*>> choose_figures(std::span<const Figure> figures,
                                                  const std::string& name,
                                                  std::string_view system) {
  std::vector<const Figure*> chosen;
  std::vector<std::string_view> names;
  for (const Figure& figure : figures) {
    names.push_back(figure.name);
    if (name.empty() || name == figure.name) chosen.push_back(&figure);
  }
  if (!chosen.empty()) return chosen;
  return invalid(fmt::format("--figure {}: of {} there are {}; leave it out for all", name, system,
                             fmt::join(names, ", ")));
}

}  // namespace orrery
