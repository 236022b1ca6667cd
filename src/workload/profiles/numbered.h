#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace orrery {

// Numbers values by first use, each different value once. The values outlive it.
template <class Id, class Value>
class Numbered {
 public:
  Id id_of(const Value& value) {
    const auto [place, fresh] = ids_.try_emplace(&value);
    if (!fresh) return place->second;
    const auto same = std::ranges::find(list_, value);
    place->second = Id{static_cast<std::int32_t>(same - list_.begin())};
    if (same == list_.end()) list_.push_back(value);
    return place->second;
  }
  std::vector<Value> list() && { return std::move(list_); }

 private:
  std::vector<Value> list_;
  std::map<const Value*, Id> ids_;
};

}  // namespace orrery
