#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace orrery {

// How the learning rate follows the number of workers.
enum class RateRule : std::uint8_t {
  InverseRoot,  // 1 / sqrt(live workers), as published ("adaptive")
  Linear,       // live workers / workers at the start
  None,
  Naive,  // 1 / sqrt(slots), live or not: the published comparison
};

// What the base rate is multiplied by. `live`, `at_start` and `slots` count workers, the chief
// among them; with `live` 0 the factor is that of one.
double rate_factor(RateRule rule, int live, int at_start, int slots);

std::string_view text_of(RateRule rule);
std::optional<RateRule> rate_rule_of(std::string_view word);

}  // namespace orrery
