#include <array>

#include "scheduling/policy/published/makers.h"
#include "scheduling/policy/published/published.h"

namespace orrery {
namespace {

using Line = MuriEnds::Line;

constexpr std::array kRebuilds = {OptionDefault{"sticky", "false"}};
constexpr std::array kShortest = {OptionDefault{"sticky", "false"},
                                  OptionDefault{"count-start", "false"}};
constexpr std::array kLas = {OptionDefault{"sticky", "false"}, OptionDefault{"locality", "off"}};
constexpr std::array kThemis = {OptionDefault{"lease", "0s"}};
constexpr std::array kReference = {OptionDefault{"variant", "reference"}};

ReleasedLoop srtf_loop(const Options& /*options*/) { return MuriEnds{.line = Line::ByRemaining}; }
ReleasedLoop srsf_loop(const Options& /*options*/) { return MuriEnds{.line = Line::ByService}; }
ReleasedLoop las_loop(const Options& /*options*/) { return MuriEnds{.closeness = 0}; }
ReleasedLoop antman_loop(const Options& /*options*/) { return MuriEnds{.line = Line::ByClass}; }

constexpr std::array kPolicies = {
    PublishedPolicy{"sjf", kRebuilds},
    PublishedPolicy{"srtf", kShortest, nullptr, srtf_loop},
    PublishedPolicy{"srsf", kShortest, nullptr, srsf_loop},
    PublishedPolicy{"las", kLas, las_of_muri, las_loop, las_order_of_muri},
    PublishedPolicy{"gittins", kRebuilds},
    PublishedPolicy{"ftf", kRebuilds},
    PublishedPolicy{"drf", kRebuilds},
    PublishedPolicy{"tetris", kRebuilds},
    PublishedPolicy{"themis", kThemis, themis_of_muri},
    PublishedPolicy{"antman", {}, antman_of_muri, antman_loop},
    PublishedPolicy{"muri-s", kReference, muri_s_of_muri, muri_loop},
    PublishedPolicy{"muri-l", kReference, muri_l_of_muri, muri_loop},
};

constexpr PublishedWorld kWorld = {"muri", kPolicies};

}  // namespace

const PublishedWorld& muri_world() { return kWorld; }

}  // namespace orrery
