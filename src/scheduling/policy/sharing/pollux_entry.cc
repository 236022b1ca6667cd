#include <array>

#include "scheduling/policy/sharing/divider.h"
#include "scheduling/policy/sharing/policies.h"
#include "scheduling/policy/sharing/pollux.h"
#include "scheduling/policy/sharing/pollux_data.h"

namespace orrery {
namespace {

constexpr std::array kPollux = {
    OptionInfo{"interval", "the cluster is divided this often", "1m", "2m 10m"},
    OptionInfo{"pollux-data", "folder of measured step times and gradients by model, or none",
               "none", kPathExample}};

Result<std::unique_ptr<Policy>> pollux(const Options& options, const PolicyContext& context) {
  DividerOptions elastic{.periodic = true};
  TRY_ASSIGN(elastic.quantum, options.duration("interval", std::chrono::seconds(1)));
  std::map<std::string, Goodput> goodputs;
  if (options.text("pollux-data") != "none") {
    auto models = read_training_data(options.text("pollux-data"));
    if (!models.ok()) return std::move(models).error().at("option pollux-data");
    for (const auto& [name, data] : models.value()) goodputs.emplace(name, goodput_of(data));
  }
  return make_divider(make_pollux(context.workload, std::move(goodputs)), elastic);
}

}  // namespace

const PolicyInfo kPolluxPolicy = {
    "pollux", "elastic: all shares so that training gets on fastest, batch sizes too",
    kPollux,  pollux,
    nullptr,  {.curves = true}};

}  // namespace orrery
