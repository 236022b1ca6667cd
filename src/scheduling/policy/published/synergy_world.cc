#include <array>

#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/published.h"

namespace orrery {
namespace {

constexpr std::array kShortest = {OptionDefault{"count-start", "false"}};
constexpr std::array kFtf = {OptionDefault{"first", "least"}};
constexpr std::array kAllocators = {
    OptionDefault{"sticky", "false"}, OptionDefault{"boost", "1000h"},
    OptionDefault{"speed", "granted"}, OptionDefault{"weight", "none"},
    OptionDefault{"gather", "false"}};

constexpr std::array kPolicies = {
    PublishedPolicy{"srtf", kShortest},
    PublishedPolicy{"srsf", kShortest},
    PublishedPolicy{"las", {}, las_of_synergy, nullptr, las_order_of_synergy, true},
    PublishedPolicy{"ftf", kFtf},
};

ReleasedLoop loop(const AllocatorInfo& allocator, bool late) {
  return SynergyRules{.first_round = Time(std::chrono::seconds(late ? 1 : 0)),
                      .by_matrix = allocator.between};
}

constexpr PublishedWorld kWorld = {"synergy", kPolicies, kAllocators, loop};

}  // namespace

const PublishedWorld& synergy_world() { return kWorld; }

}  // namespace orrery
