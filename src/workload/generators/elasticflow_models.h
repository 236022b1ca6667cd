#pragma once

#include <array>
#include <string_view>

#include "model/time.h"

namespace orrery {

// One kind of job that ElasticFlow (ASPLOS '23) draws its traces from.
struct ElasticFlowKind {
  std::string_view model;
  int batch_size;
};

// In the order in which the published generator numbers them.
inline constexpr std::array<ElasticFlowKind, 14> kElasticFlowKinds = {{{"resnet50", 64},
                                                                       {"resnet50", 128},
                                                                       {"resnet50", 256},
                                                                       {"vgg16", 64},
                                                                       {"vgg16", 128},
                                                                       {"vgg16", 256},
                                                                       {"inception3", 64},
                                                                       {"inception3", 128},
                                                                       {"gpt2", 128},
                                                                       {"gpt2", 256},
                                                                       {"bert", 128},
                                                                       {"bert", 64},
                                                                       {"deepspeech2", 64},
                                                                       {"deepspeech2", 32}}};

// What starting or resizing costs a job of this model: the largest of the overheads measured for it
// in the paper's figure 12b, and for a model that was not measured the largest of all.
Duration elasticflow_start_cost(std::string_view model);

}  // namespace orrery
