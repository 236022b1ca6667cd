#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

#include "workload/outages/fault_formats.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kNode, kDown, kUp, kClass };
constexpr auto kColumns = std::to_array<std::string_view>({"node", "down_s", "up_s", "class"});
constexpr std::array<std::size_t, 2> kRequired = {kNode, kDown};
constexpr int kDigits = 9;

// Two outages of one node that overlap are a mistake in a table that a person wrote.
Status check_overlaps(const LineReader& lines, const FaultTrace& trace) {
  std::vector<const FaultTrace::Fault*> faults;
  for (const FaultTrace::Fault& fault : trace.faults) faults.push_back(&fault);
  std::ranges::sort(faults, [](const auto* a, const auto* b) {
    return std::tuple(a->server, a->from, a->line) < std::tuple(b->server, b->from, b->line);
  });
  for (std::size_t i = 1; i < faults.size(); ++i) {
    const FaultTrace::Fault& before = *faults[i - 1];
    const FaultTrace::Fault& fault = *faults[i];
    if (before.server != fault.server || fault.from >= before.to) continue;
    return invalid(fmt::format(
        "{}:{}: node '{}' is down already at {} s by line {}; write one row for both", lines.name(),
        fault.line, trace.servers[fault.server], seconds(fault.from), before.line));
  }
  return {};
}

}  // namespace

Result<FaultTrace> read_fault_table(LineReader& lines) {
  TRY_ASSIGN(CsvTable table, CsvTable::open(lines, kColumns, kRequired));
  const Row& row = table.row();
  FaultTrace trace{.own = true};
  std::unordered_map<std::string, std::size_t> numbers;
  while (true) {
    TRY_ASSIGN(const bool more, table.next());
    if (!more) break;
    if (trace.faults.size() == kFaultsMax) {
      return row.wrong(fmt::format("more than {} rows", kFaultsMax));
    }
    FaultTrace::Fault fault{.line = row.line()};
    TRY_ASSIGN(const std::string_view node, row.name(kNode));
    TRY_ASSIGN(const std::int64_t down_ns, row.fixed(kDown, kDigits, kTimeMax_s));
    fault.from = Time(Duration(down_ns));
    if (row.given(kUp)) {
      TRY_ASSIGN(const std::int64_t up_ns, row.fixed(kUp, kDigits, kTimeMax_s));
      fault.to = Time(Duration(up_ns));
      if (fault.to <= fault.from) {
        return row.wrong(kUp, fmt::format("{} s is not after down_s, {} s; leave it empty if the "
                                          "node does not come back",
                                          seconds(fault.to), seconds(fault.from)));
      }
    }
    if (row.given(kClass)) {
      TRY_ASSIGN(const std::string_view cause, row.name(kClass));
      fault.cause = cause;
    }
    const auto [number, is_new] = numbers.emplace(node, trace.servers.size());
    if (is_new) trace.servers.emplace_back(node);
    fault.server = number->second;
    trace.faults.push_back(std::move(fault));
  }
  TRY(check_overlaps(lines, trace));
  return trace;
}

}  // namespace orrery
