#include <array>

#include "scheduling/policy/deadline/deadline.h"
#include "scheduling/policy/deadline/policies.h"

namespace orrery {
namespace {

constexpr std::array kDeadline = {
    OptionInfo{"second-chance",
               "a job whose deadline cannot be promised waits; false: it is refused", "true",
               "false"},
    OptionInfo{"replan", "before refusing, plan all promised jobs again within their deadlines",
               "true", "false"},
    OptionInfo{"budget",
               "a full cluster promises no job more GPU-time than this part of all jobs take at "
               "most; 1: any",
               "0.92", "0 0.5 1"},
    OptionInfo{"spare-starts", "start-ups kept in reserve before each deadline", "2", "0 5"},
    OptionInfo{"spare", "time kept in reserve before each deadline", "0s", "30s"},
    OptionInfo{"spare-rounds", "rounds kept in reserve before each deadline", "0", "0 1"},
    OptionInfo{"speed-margin",
               "by how much slower than its curve a job may be that was not measured yet; auto: as "
               "the jobs that were measured",
               "auto", "0 0.2"},
    OptionInfo{"placement", "which free devices; blocks are what promises count on", "buddy",
               "first-fit"}};

Result<std::unique_ptr<Policy>> deadline(const Options& options, const PolicyContext& context) {
  DeadlineOptions chosen{.workload = &context.workload};
  TRY_ASSIGN(chosen.second_chance, options.flag("second-chance"));
  TRY_ASSIGN(chosen.promises.replan, options.flag("replan"));
  TRY_ASSIGN(chosen.promises.budget, options.number("budget", 0, 1));
  TRY_ASSIGN(chosen.promises.spare_starts, options.integer("spare-starts", 0, 1000));
  TRY_ASSIGN(chosen.promises.spare, options.duration("spare"));
  chosen.slot = context.policy.round;
  chosen.cost = context.cost;
  if (chosen.cost) {
    chosen.promises.late = chosen.cost->late;
  } else {
    chosen.promises.apart = context.policy.round;
  }
  // What is decided may be put off until the next round.
  TRY_ASSIGN(const int spare_rounds, options.integer("spare-rounds", 0, 1000));
  chosen.promises.spare += spare_rounds * context.policy.round;
  if (options.text("speed-margin") != "auto") {
    TRY_ASSIGN(chosen.margin, options.number("speed-margin", 0, 0.9));
  }
  return make_deadline(chosen);
}

}  // namespace

const PolicyInfo kOrreryDeadlinePolicy = {
    "orrery-deadline",
    "deadlines promised or refused with a reason, elastic jobs on least GPU-time",
    kDeadline,
    deadline,
    nullptr,
    {.curves = true, .deadlines = true},
    {.refuses_jobs = true}};

}  // namespace orrery
