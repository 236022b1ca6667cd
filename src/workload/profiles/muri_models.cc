#include "workload/profiles/muri_models.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

// The stage times are those of the traces that came with Muri, the start times those its simulator
// charges.
constexpr std::array<MuriModel, 8> kModels = {{
    {"a2c",
     64,
     {{{517, {514, 14, 0}, 38},
       {525, {504, 14, 0.5}, 39},
       {533, {502, 10, 0.3}, 39},
       {555, {502, 14, 0.4}, 46},
       {567, {514, 14, 1.2}, 46},
       {585, {507, 14, 2}, 46}}}},
    {"dqn",
     128,
     {{{490, {446, 8, 0}, 5},
       {495, {441, 8, 0.6}, 5},
       {505, {440, 8, 0.4}, 6},
       {509, {435, 8, 0.5}, 6},
       {525, {438, 8, 1.2}, 8},
       {546, {437, 8, 1.6}, 8}}}},
    {"bert",
     4,
     {{{178, {0.5, 160, 0}, 10},
       {195, {0.5, 163, 18}, 10},
       {190, {0.5, 163, 18}, 10},
       {192, {0.5, 167, 59}, 10},
       {244, {0.5, 166, 86}, 10},
       {260, {0.5, 166, 133}, 10}}}},
    {"gpt2",
     4,
     {{{426, {0.6, 410, 0}, 10},
       {464, {0.7, 416, 40}, 10},
       {433, {0.6, 413, 20}, 10},
       {437, {0.6, 419, 49}, 10},
       {491, {0.6, 415, 137}, 10},
       {514, {0.7, 414, 216}, 10}}}},
    {"resnet18",
     128,
     {{{779, {711, 110, 0}, 4},
       {881, {687, 110, 95}, 5},
       {921, {723, 113, 73}, 5},
       {1010, {784, 117, 77}, 7},
       {1055, {736, 108, 93}, 7},
       {1059, {712, 111, 93}, 7}}}},
    {"shufflenet_v2_x1_0",
     128,
     {{{798, {706, 59, 0}, 4},
       {850, {747, 58, 18}, 4},
       {886, {703, 62, 17}, 5},
       {957, {769, 57, 10}, 5},
       {1006, {776, 57, 21}, 7},
       {1019, {799, 56, 24}, 8}}}},
    {"vgg16",
     16,
     {{{107, {117, 68, 0}, 7},
       {191, {114, 72, 40}, 7},
       {201, {82, 72, 67}, 8},
       {214, {82, 75, 66}, 9},
       {332, {83, 68, 110}, 9},
       {336, {87, 67, 131}, 10}}}},
    {"vgg19",
     16,
     {{{109, {114, 80, 0}, 7},
       {205, {115, 83, 41}, 7},
       {212, {84, 85, 73}, 8},
       {226, {82, 88, 60}, 9},
       {302, {102, 78, 123}, 10},
       {356, {89, 79, 141}, 10}}}},
}};

}  // namespace

const MuriProfile& MuriModel::profile(int gpus) const {
  const auto step = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(gpus)));
  return profiles[std::clamp<std::size_t>(step, 1, profiles.size()) - 1];
}

std::span<const MuriModel> muri_models() { return kModels; }

const MuriModel* find_muri_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &MuriModel::name);
  return found == kModels.end() ? nullptr : &*found;
}

}  // namespace orrery
