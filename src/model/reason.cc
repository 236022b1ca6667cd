#include "model/reason.h"

#include <fmt/format.h>

#include "model/duration_text.h"

namespace orrery {
namespace {

// To the second, rounded up, so that a promise is not cut short.
std::string moment(Time time) {
  if (time > kNever - std::chrono::seconds(1)) return "never";  // rounded up it would overflow
  return duration_text(std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch()));
}

std::string span(Time from, Time until) {
  if (until == kNever) return fmt::format("from {} on", moment(from));
  return fmt::format("from {} to {}", moment(from), moment(until));
}

std::string instead(Time earliest) {
  if (earliest == kNever) return "; no deadline could be promised";
  return fmt::format("; the earliest that can be promised is {}", moment(earliest));
}

std::string on_one_node(const char* what, double wanted, double available) {
  return fmt::format("waits for {:.3g} {} on one node, {:.3g} free", wanted, what, available);
}

std::string limited(const Reason& reason) {
  const char* holder = reason.code == Reason::Code::UserLimit ? "user" : "tenant";
  return fmt::format("its {} may use {} GPUs at a time: asks for {} more", holder, reason.available,
                     reason.wanted);
}

}  // namespace

std::string text(const Reason& reason) {
  const auto wanted = reason.wanted;
  const auto available = reason.available;
  switch (reason.code) {
    case Reason::Code::None:
      return "";
    case Reason::Code::GpusBusy:
      return fmt::format("waits for {} GPUs, {} free", wanted, available);
    case Reason::Code::Fragmented:
      return fmt::format("waits for {} GPUs side by side; {} are free, but scattered", wanted,
                         available);
    case Reason::Code::CpusBusy:
      return on_one_node("CPUs", double(wanted) / 1000, double(available) / 1000);
    case Reason::Code::MemoryBusy:
      return on_one_node("GB of memory", double(wanted) / 1e9, double(available) / 1e9);
    case Reason::Code::BehindOthers:
      return fmt::format("waits behind {} jobs", wanted);
    case Reason::Code::Outranked:
      if (reason.other == kNoJob) return "preempted by jobs that go first";
      return fmt::format("preempted by job #{}", index(reason.other));
    case Reason::Code::Reserved:
      return fmt::format("gathers {} GPUs, has {}", wanted, available);
    case Reason::Code::TooLarge:
      return fmt::format("can never run: asks for {} GPUs, the cluster has {}", wanted, available);
    case Reason::Code::NoSuchNode:
      return "can never run: no set of nodes offers the GPUs, CPUs, memory or GPU type asked for";
    case Reason::Code::Cancelled:
      return "cancelled by its owner";
    case Reason::Code::NodeLost:
      return fmt::format("lost its node {}", wanted);
    case Reason::Code::Quantum:
      return "waits for the next quantum, when groups are formed again";
    case Reason::Code::DeadlinePast:
      return "refused: its deadline is not after its submission";
    case Reason::Code::TooLate:
      return "refused: not even alone could it be done in time" + instead(reason.earliest);
    case Reason::Code::Promised:
      return fmt::format("refused: {} it would need {} GPUs, {} are not promised yet",
                         span(reason.from, reason.until), wanted, available) +
             instead(reason.earliest);
    case Reason::Code::OverBudget:
      return fmt::format("refused: over budget: it would take {} GPU-seconds, {} at most", wanted,
                         available);
    case Reason::Code::Quota:
      return fmt::format("waits for its quota: asks for {} GPUs, {} are left of it", wanted,
                         available);
    case Reason::Code::Dependency:
      if (reason.other == kNoJob) return "waits for the jobs it comes after";
      return fmt::format("waits for the end of job #{}", index(reason.other));
    case Reason::Code::Retry:
      return fmt::format("waits to be tried again, {} of {} times", wanted, available);
    case Reason::Code::NotHere:
      return fmt::format("waits for nodes that offer what it asks for: {} GPUs, {} are open",
                         wanted, available);
    case Reason::Code::Requested:
      return "stopped by the operator";
    case Reason::Code::Priority:
      return fmt::format("waits for {} GPUs that jobs of a higher priority leave", wanted);
    case Reason::Code::PolicyChanged:
      return "cannot go on as it was under the policy that took over";
    case Reason::Code::UserLimit:
    case Reason::Code::TenantLimit:
      return limited(reason);
    case Reason::Code::Later:
      return fmt::format("begins at {}, which is early enough", moment(reason.from));
  }
  return "?";
}

}  // namespace orrery
