#include <fmt/format.h>

#include <array>

#include "model/duration_text.h"
#include "scheduling/policy/deadline/chronus.h"
#include "scheduling/policy/entries.h"
#include "scheduling/policy/sharing/divider.h"
#include "scheduling/policy/sharing/pollux.h"
#include "scheduling/policy/sharing/pollux_data.h"

namespace orrery {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

Result<Duration> duration_from(const Options& options, std::string_view key, Duration least) {
  TRY_ASSIGN(const Duration duration, options.duration(key));
  if (duration >= least) return duration;
  return invalid(fmt::format("option {}: {} is too short; write {} or longer", key,
                             options.text(key), duration_text(least)));
}

constexpr std::array<std::string_view, 2> kNewcomers = {"at-once", "quantum"};
constexpr std::array kElastic = {
    OptionInfo{"quantum", "the cluster is divided at most this often", "1m"},
    OptionInfo{
        "newcomers",
        "a new job for which a grown job holds the GPUs gets its smallest number at-once, or "
        "after the quantum",
        "at-once"}};

Made elastic(const Options& options, std::unique_ptr<ShareRule> rule) {
  DividerOptions elastic;
  TRY_ASSIGN(elastic.quantum, options.duration("quantum"));
  TRY_ASSIGN(const int newcomers, options.choice("newcomers", kNewcomers));
  elastic.newcomers_at_once = newcomers == 0;
  return make_divider(std::move(rule), elastic);
}
Made optimus(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_optimus());
}
Made afs(const Options& options, const PolicyContext& /*context*/) {
  return elastic(options, make_afs());
}

constexpr std::array<std::string_view, 2> kChoices = {"adaptive", "latest"};
constexpr std::array<std::string_view, 2> kEnds = {"last", "first"};
constexpr std::array kChronus = {
    OptionInfo{"lease", "who runs is chosen this often; deadlines are kept in whole leases", "4m"},
    OptionInfo{"slot", "newcomers and idle GPUs are looked at this often; 0s: at once", "0s"},
    OptionInfo{"margin", "leases are reserved for this many times the work", "1.1"},
    OptionInfo{"resume", "what resuming takes on one GPU, more on several; own: its start cost",
               "own"},
    OptionInfo{"choice",
               "adaptive: accepted jobs run at once if nobody was turned away; latest: never",
               "adaptive"},
    OptionInfo{"lost", "jobs whose deadline cannot be met take what is left first or last", "last"},
    OptionInfo{"early", "accepted jobs may use idle GPUs before their leases", "true"}};

Made chronus(const Options& options, const PolicyContext& /*context*/) {
  ChronusOptions chronus;
  constexpr Duration kLeast = std::chrono::seconds(10);
  TRY_ASSIGN(chronus.lease, duration_from(options, "lease", kLeast));
  TRY_ASSIGN(chronus.slot, options.duration("slot"));
  if (chronus.slot != Duration::zero()) {
    TRY_ASSIGN(chronus.slot, duration_from(options, "slot", kLeast));
  }
  TRY_ASSIGN(chronus.margin, options.number("margin", 1, 100));
  if (options.text("resume") != "own") {
    TRY_ASSIGN(chronus.resume, options.duration("resume"));
  }
  TRY_ASSIGN(const int choice, options.choice("choice", kChoices));
  chronus.adaptive = choice == 0;
  TRY_ASSIGN(const int lost, options.choice("lost", kEnds));
  chronus.lost_first = lost == 1;
  TRY_ASSIGN(chronus.early, options.flag("early"));
  return make_chronus(chronus);
}

constexpr std::array kPollux = {
    OptionInfo{"interval", "the cluster is divided anew this often", "1m"},
    OptionInfo{"pollux-data", "folder of measured step times and gradients by model, or none",
               "none"}};

Made pollux(const Options& options, const PolicyContext& context) {
  DividerOptions elastic{.periodic = true};
  TRY_ASSIGN(elastic.quantum, duration_from(options, "interval", std::chrono::seconds(1)));
  std::map<std::string, Goodput> goodputs;
  if (options.text("pollux-data") != "none") {
    auto models = read_training_data(options.text("pollux-data"));
    if (!models.ok()) return std::move(models).error().at("option pollux-data");
    for (const auto& [name, data] : models.value()) goodputs.emplace(name, goodput_of(data));
  }
  return make_divider(make_pollux(context.workload, std::move(goodputs)), elastic);
}

constexpr std::array kRivals = {
    PolicyInfo{"optimus",
               "elastic: the next GPU goes where it saves most time",
               kElastic,
               optimus,
               nullptr,
               {.curves = true}},
    PolicyInfo{"afs",
               "elastic: the next GPU goes to the shorter job, or one that uses it far better",
               kElastic,
               afs,
               nullptr,
               {.curves = true}},
    PolicyInfo{"chronus",
               "leases reserved before deadlines; the others take what is left",
               kChronus,
               chronus,
               nullptr,
               {.deadlines = true}},
    PolicyInfo{"pollux",
               "elastic: all shares so that training gets on fastest, batch sizes too",
               kPollux,
               pollux,
               nullptr,
               {.curves = true}},
};

}  // namespace

std::span<const PolicyInfo> rival_policies() { return kRivals; }

}  // namespace orrery
