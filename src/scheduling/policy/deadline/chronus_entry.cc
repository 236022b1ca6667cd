#include <array>

#include "scheduling/policy/deadline/chronus.h"
#include "scheduling/policy/deadline/policies.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 2> kChoices = {"adaptive", "latest"};
constexpr std::array<std::string_view, 2> kEnds = {"last", "first"};
constexpr std::array kChronus = {
    OptionInfo{"lease",
               "the jobs that run are chosen this often; deadlines are kept in whole leases", "4m",
               "2m"},
    OptionInfo{"slot", "newcomers and idle GPUs are looked at this often; 0s: at once", "0s",
               "1m 10m"},
    OptionInfo{"margin", "leases are reserved for this many times the work", "1.1", "1 2"},
    OptionInfo{"resume", "what resuming takes on one GPU, more on several; own: its start cost",
               "own", "20s"},
    OptionInfo{"choice",
               "adaptive: accepted jobs run at once if no job was turned away; latest: never",
               "adaptive", "adaptive latest"},
    OptionInfo{"lost", "jobs whose deadline cannot be met take what is left first or last", "last",
               "last first"},
    OptionInfo{"early", "accepted jobs may use idle GPUs before their leases", "true",
               "true false"}};

Result<std::unique_ptr<Policy>> chronus(const Options& options, const PolicyContext& /*context*/) {
  ChronusOptions chronus;
  constexpr Duration kLeast = std::chrono::seconds(10);
  TRY_ASSIGN(chronus.lease, options.duration("lease", kLeast));
  TRY_ASSIGN(chronus.slot, options.duration("slot"));
  if (chronus.slot != Duration::zero()) {
    TRY_ASSIGN(chronus.slot, options.duration("slot", kLeast));
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

}  // namespace

const PolicyInfo kChronusPolicy = {
    "chronus", "leases reserved before deadlines; the others take what is left",
    kChronus,  chronus,
    nullptr,   {.deadlines = true}};

}  // namespace orrery
