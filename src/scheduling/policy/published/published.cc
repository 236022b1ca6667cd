#include "scheduling/policy/published/published.h"

#include <algorithm>
#include <array>

#include "scheduling/policy/published/makers.h"

namespace orrery {
namespace {

constexpr std::array kRebuilds = {OptionDefault{"sticky", "false"}};
constexpr std::array kMuriShortest = {OptionDefault{"sticky", "false"},
                                      OptionDefault{"count-start", "false"}};
constexpr std::array kMuriLas = {OptionDefault{"sticky", "false"}, OptionDefault{"locality", "off"},
                                 OptionDefault{"tick", "1s"}};
constexpr std::array kMuriThemis = {OptionDefault{"sticky", "false"}, OptionDefault{"lease", "0s"},
                                    OptionDefault{"isolated-rate", "false"}};
constexpr std::array kReference = {OptionDefault{"variant", "reference"}};
constexpr std::array kMuri = {
    PublishedPolicy{"sjf", kRebuilds},      PublishedPolicy{"srtf", kMuriShortest},
    PublishedPolicy{"srsf", kMuriShortest}, PublishedPolicy{"las", kMuriLas},
    PublishedPolicy{"gittins", kRebuilds},  PublishedPolicy{"ftf", kRebuilds},
    PublishedPolicy{"drf", kRebuilds},      PublishedPolicy{"tetris", kRebuilds},
    PublishedPolicy{"themis", kMuriThemis}, PublishedPolicy{"muri-s", kReference},
    PublishedPolicy{"muri-l", kReference},
};

constexpr std::array kElasticFlowLas = {
    OptionDefault{"sticky", "false"}, OptionDefault{"locality", "off"}, OptionDefault{"tick", "1s"},
    OptionDefault{"guesses", "true"}};
constexpr std::array kElasticFlowThemis = {
    OptionDefault{"lease", "auto"}, OptionDefault{"isolated-rate", "false"},
    OptionDefault{"priority", "share"}, OptionDefault{"leftover", "centre"},
    OptionDefault{"locality", "off"}};
constexpr std::array kElasticFlowChronus = {
    OptionDefault{"slot", "4m"}, OptionDefault{"resume", "500ms"},
    OptionDefault{"choice", "latest"}, OptionDefault{"lost", "first"},
    OptionDefault{"early", "false"}};
constexpr std::array kElasticFlow = {
    PublishedPolicy{"las", kElasticFlowLas},
    PublishedPolicy{"themis", kElasticFlowThemis},
    PublishedPolicy{"gandiva", kReference},
    PublishedPolicy{"elasticflow", {}, published_elasticflow},
    PublishedPolicy{"edf", {}, published_edf},
    PublishedPolicy{"edf-admission", {}, published_edf_admission},
    PublishedPolicy{"chronus", kElasticFlowChronus},
};

constexpr std::array kSynergyShortest = {OptionDefault{"count-start", "false"}};
constexpr std::array kSynergyLas = {OptionDefault{"levels", "off"},
                                    OptionDefault{"by-count", "true"}};
constexpr std::array kSynergyFtf = {OptionDefault{"first", "least"}};
constexpr std::array kSynergyAllocators = {
    OptionDefault{"sticky", "false"}, OptionDefault{"boost", "1000h"},
    OptionDefault{"speed", "granted"}, OptionDefault{"weight", "none"},
    OptionDefault{"gather", "false"}};
constexpr std::array kSynergy = {
    PublishedPolicy{"srtf", kSynergyShortest},
    PublishedPolicy{"srsf", kSynergyShortest},
    PublishedPolicy{"las", kSynergyLas},
    PublishedPolicy{"ftf", kSynergyFtf},
};

constexpr PublishedWorld kMuriWorld = {"muri", kMuri};
constexpr PublishedWorld kElasticFlowWorld = {"elasticflow", kElasticFlow};
constexpr PublishedWorld kSynergyWorld = {"synergy", kSynergy, kSynergyAllocators};

}  // namespace

const PublishedWorld& muri_world() { return kMuriWorld; }
const PublishedWorld& elasticflow_world() { return kElasticFlowWorld; }
const PublishedWorld& synergy_world() { return kSynergyWorld; }

PublishedPolicy published_policy(const PublishedWorld* world, std::string_view policy) {
  if (world == nullptr) return {.name = policy};
  const auto listed = std::ranges::find(world->policies, policy, &PublishedPolicy::name);
  return listed == world->policies.end() ? PublishedPolicy{.name = policy} : *listed;
}

std::span<const OptionDefault> published_allocator_defaults(const PublishedWorld* world) {
  return world == nullptr ? std::span<const OptionDefault>() : world->allocator_defaults;
}

}  // namespace orrery
