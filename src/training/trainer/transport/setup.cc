#include "training/trainer/transport/setup.h"

#include <nlohmann/json.hpp>

namespace orrery {

using nlohmann::json;

std::string setup_text(const PartSetup& setup) {
  const LearnerOptions& learner = setup.learner;
  const OptimizerOptions& optimizer = setup.optimizer;
  return json{{"all_reduce", setup.architecture == Architecture::AllReduce},
              {"model", learner.model},
              {"data", learner.data},
              {"data_folder", learner.data_folder},
              {"seed", learner.seed},
              {"device", learner.device},
              {"place", learner.place},
              {"threads", learner.threads},
              {"held_out", learner.held_out},
              {"optimizer", optimizer.kind},
              {"momentum", optimizer.momentum},
              {"weight_decay", optimizer.weight_decay},
              {"parameters", setup.parameters},
              {"meeting_host", setup.meeting_host},
              {"meeting_port", setup.meeting_port},
              {"ring_patience_s", setup.ring_patience_s},
              {"head_listens", setup.head_listens}}
      .dump();
}

Result<PartSetup> parse_setup(const std::string& text) {
  const json values = json::parse(text, nullptr, false);
  PartSetup setup;
  try {
    setup.architecture = values.at("all_reduce").get<bool>() ? Architecture::AllReduce
                                                             : Architecture::ParameterServers;
    setup.learner = {.model = values.at("model").get<std::string>(),
                     .data = values.at("data").get<std::string>(),
                     .data_folder = values.at("data_folder").get<std::string>(),
                     .seed = values.at("seed").get<std::uint64_t>(),
                     .device = values.at("device").get<std::string>(),
                     .place = values.at("place").get<int>(),
                     .threads = values.at("threads").get<int>(),
                     .held_out = values.at("held_out").get<int>()};
    setup.optimizer.kind = values.at("optimizer").get<std::string>();
    setup.optimizer.momentum = values.at("momentum").get<double>();
    setup.optimizer.weight_decay = values.at("weight_decay").get<double>();
    setup.parameters = values.at("parameters").get<std::int64_t>();
    setup.meeting_host = values.at("meeting_host").get<std::string>();
    setup.meeting_port = values.at("meeting_port").get<std::uint16_t>();
    setup.ring_patience_s = values.at("ring_patience_s").get<double>();
    setup.head_listens = values.at("head_listens").get<std::string>();
  } catch (const json::exception& problem) {
    return invalid(problem.what()).at("the head's setup");
  }
  return setup;
}

}  // namespace orrery
