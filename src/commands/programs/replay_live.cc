#include <fmt/format.h>

#include <fstream>

#include "commands/programs/commands.h"
#include "commands/programs/replay_variants.h"
#include "experiments/runs/output.h"
#include "live/daemon/log/event_tail.h"
#include "live/daemon/log/replay.h"

namespace orrery {

Status replay_live(const ReplayArguments& arguments) {
  if (!arguments.policies.empty() || !arguments.cluster.empty()) {
    return replay_live_variants(arguments);
  }
  std::ifstream file(arguments.input);
  if (!file) return invalid(fmt::format("{}: cannot be read", arguments.input));
  Replay replay{CoreOptions{}};
  std::string line;
  std::int64_t number = 1;
  std::int64_t records = 0;
  std::getline(file, line);  // says what kind of file it is
  while (std::getline(file, line)) {
    ++number;
    const auto place = [&](Error error) {
      return invalid(fmt::format("{}:{}: {}", arguments.input, number, error.message));
    };
    auto record = read_event_line(line);
    if (!record.ok()) return place(std::move(record).error());
    if (records == 0 && record.value().sequence != 1) {
      return invalid(fmt::format(
          "{}:{}: the log begins with record {}; only one that reaches back to the first can be "
          "replayed",
          arguments.input, number, record.value().sequence));
    }
    ++records;
    if (Status status = replay.next(record.value()); !status.ok()) {
      return place(std::move(status).error());
    }
  }
  replay.finish();
  const bool same = !replay.difference();
  if (arguments.json) {
    TRY(print_text(fmt::format("{{\"same\":{},\"decisions_agreed\":{},\"rounds\":{}}}\n", same,
                               replay.agreed(), replay.rounds())));
  } else {
    TRY(print_text(fmt::format(
        "{} records, {} rounds: {} decisions agree{}\n", records, replay.rounds(), replay.agreed(),
        same ? ", none differs" : "; then they part\n" + *replay.difference())));
  }
  if (same) return {};
  return Error{Code::Aborted, "the same code decides otherwise than recorded"};
}

}  // namespace orrery
