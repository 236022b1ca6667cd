#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "live/client/commands.h"
#include "live/client/event_text.h"
#include "live/client/live_variants.h"

namespace orrery {
namespace {

constexpr Duration kOneCall = std::chrono::seconds(1);
constexpr Duration kApart = std::chrono::milliseconds(50);
constexpr std::int64_t kShownBefore = 10;

// Hands every event from `request.from` on to `take`, in order; to the end, or for ever.
template <class Take>
Status page(Client& client, EventsRequest request, bool follow, const Surroundings& around,
            Take take) {
  request.wait = follow ? kOneCall : Duration::zero();
  Duration patience = kPatience;
  while (!around.interrupted()) {
    TRY_ASSIGN(const EventsAnswer answer,
               ask_for(around, patience, [&] { return client.events(request); }));
    if (follow) patience = kPatienceOfFollowers;
    for (const std::string& line : answer.lines) TRY(take(line));
    if (answer.lines.empty() && !follow) return {};
    if (answer.lines.empty()) around.pause(kApart);
    request.from = answer.next;
  }
  return {};
}

}  // namespace

Status events_command(const EventsArguments& arguments, const Surroundings& around) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, around));
  if (arguments.follow) around.catch_interrupts();
  const std::int64_t usual = arguments.follow ? -kShownBefore : 0;
  return page(*client, {.from = arguments.from.value_or(usual)}, arguments.follow, around,
              [&](const std::string& line) {
                return around.print((arguments.json ? line : event_text(line)) + '\n');
              });
}

Status each_live_event(const ConnectionArguments& connection, const Surroundings& around,
                       const std::function<Status(const std::string& line)>& take) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(connection, around));
  around.catch_interrupts();
  TRY(page(*client, {.record = true}, false, around, take));
  if (around.interrupted()) return Error{Code::Cancelled, "interrupted: nothing was written"};
  return {};
}

Status live_record(const LiveRecord& record, const Surroundings& around) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(record.output, OutputFile::Kind::NamedPrivate));
  OutputStream out(std::move(file));
  out << "{\"orrery_live_log\":1}\n";
  std::int64_t events = 0;
  TRY(each_live_event(record.connection, around, [&](const std::string& line) -> Status {
    ++events;
    out << line << '\n';
    return out ? Status() : out.finish();
  }));
  TRY(out.finish());
  return around.print(fmt::format("{}: {} events\n", record.output, events));
}

}  // namespace orrery
