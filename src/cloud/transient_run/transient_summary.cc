#include "cloud/transient_run/transient_summary.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using nlohmann::ordered_json;

ordered_json value_of(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

}  // namespace

std::string transient_summary_json(const TransientSummary& s) {
  const ordered_json failure = s.failure.empty() ? ordered_json(nullptr) : ordered_json(s.failure);
  return ordered_json{{"job", s.job},
                      {"ended", s.ended},
                      {"failure", failure},
                      {"training_s", s.training_s},
                      {"hours", s.hours},
                      {"steps", s.steps},
                      {"accuracy", value_of(s.accuracy)},
                      {"time_to_target_s", value_of(s.time_to_target_s)},
                      {"servers", s.servers},
                      {"revocations", s.revocations},
                      {"chiefs", s.chiefs},
                      {"from_shards", s.from_shards},
                      {"from_checkpoint", s.from_checkpoint},
                      {"checkpoints", s.checkpoints},
                      {"membership_epochs", s.membership_epochs},
                      {"usd", value_of(s.usd)},
                      {"on_demand_usd", value_of(s.on_demand_usd)},
                      {"saving_pct", value_of(s.saving_pct)},
                      {"folder", s.folder},
                      {"ledger", s.ledger}}
             .dump() +
         "\n";
}

std::string transient_summary_text(const TransientSummary& s) {
  std::string text = fmt::format("{}: {}\n", s.job, s.failure.empty() ? s.ended : s.failure);
  text += fmt::format("  steps        {} in {:.1f} s of training\n", s.steps, s.training_s);
  if (s.accuracy) text += fmt::format("  accuracy     {:.4f}\n", *s.accuracy);
  if (s.time_to_target_s)
    text += fmt::format("  target       after {:.1f} s\n", *s.time_to_target_s);
  text += fmt::format("  servers      {}, {} revoked, {:.2f} h of the provider\n", s.servers,
                      s.revocations, s.hours);
  text += fmt::format("  chiefs       {}; {} went on from the shards, {} from a checkpoint\n",
                      s.chiefs, s.from_shards, s.from_checkpoint);
  text += fmt::format("  checkpoints  {}\n", s.checkpoints);
  text += fmt::format("  membership   {} epochs\n", s.membership_epochs);
  if (s.usd) text += fmt::format("  cost         {:.4f} USD", *s.usd);
  if (s.usd && s.on_demand_usd) {
    text += fmt::format(", on-demand {:.4f} USD, {:.1f} % saved", *s.on_demand_usd,
                        s.saving_pct.value_or(0));
  }
  if (s.usd) text += "\n";
  text += fmt::format("  ledger       {}\n", s.ledger);
  return text;
}

}  // namespace orrery
