#include <fmt/format.h>

#include "ctl/commands.h"

namespace orrery {

Status logs_command(const LogsArguments& arguments, const Surroundings& around) {
  constexpr Duration kOneCall = std::chrono::seconds(1);
  constexpr Duration kApart = std::chrono::milliseconds(50);
  if (arguments.id < 1) {
    return invalid(fmt::format("there is no job {}; they are numbered from 1", arguments.id));
  }
  if (arguments.rank < 0) return invalid("--rank: they are numbered from 0");
  if (arguments.tail && *arguments.tail < 1) return invalid("--tail: write at least 1 byte");
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, around));
  LogsRequest request{.id = arguments.id, .rank = arguments.rank};
  if (arguments.tail) request.offset = -*arguments.tail;
  if (arguments.follow) {
    around.catch_interrupts();
    request.wait = kOneCall;
  }
  while (!around.interrupted()) {
    TRY_ASSIGN(const LogsAnswer answer, ask_again(around, [&] { return client->logs(request); }));
    TRY(around.print(answer.bytes));
    const bool nothing = answer.bytes.empty();
    if (answer.ended || (nothing && !arguments.follow)) return {};
    request.offset = answer.next;
    if (nothing) around.pause(kApart);
  }
  return {};
}

}  // namespace orrery
