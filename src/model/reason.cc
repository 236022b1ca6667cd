#include "model/reason.h"

#include <fmt/format.h>

namespace orrery {

std::string text(const Reason& reason) {
  using Code = Reason::Code;
  const auto wanted = reason.wanted;
  const auto available = reason.available;
  const auto other = index(reason.other);
  switch (reason.code) {
    case Code::None:
      return "";
    case Code::GpusBusy:
      return fmt::format("waits for {} GPUs, {} free", wanted, available);
    case Code::Fragmented:
      return fmt::format("waits for {} GPUs side by side; {} are free, but scattered", wanted,
                         available);
    case Code::CpusBusy:
      return fmt::format("waits for {:.3g} CPUs on one node, {:.3g} free", double(wanted) / 1000,
                         double(available) / 1000);
    case Code::MemoryBusy:
      return fmt::format("waits for {:.3g} GB of memory on one node, {:.3g} free",
                         double(wanted) / 1e9, double(available) / 1e9);
    case Code::BehindOthers:
      return fmt::format("waits behind {} jobs of its shape", wanted);
    case Code::Outranked:
      if (reason.other == kNoJob) return "made room for jobs that go first";
      return fmt::format("made room for job #{}", other);
    case Code::Reserved:
      return fmt::format("gathers {} GPUs, has {}", wanted, available);
    case Code::TooLarge:
      return fmt::format("can never run: asks for {} GPUs, the cluster has {}", wanted, available);
    case Code::NoSuchNode:
      return "can never run: no set of nodes offers the GPUs, CPUs, memory or GPU type asked for";
    case Code::Cancelled:
      return "cancelled by its owner";
    case Code::NodeLost:
      return fmt::format("lost its node {}", wanted);
    case Code::Quantum:
      return "waits for the next quantum, when groups are formed anew";
  }
  return "?";
}

}  // namespace orrery
