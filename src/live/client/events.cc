#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/output_file.h"
#include "live/client/commands.h"
#include "live/client/event_text.h"
#include "live/client/live_variants.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

constexpr Duration kOneCall = std::chrono::seconds(1);
constexpr Duration kApart = std::chrono::milliseconds(50);
constexpr std::int64_t kShownBefore = 10;

// Hands every event from `request.from` on to `take`, in order; to the end, or for ever.
template <class Take>
Status page(Client& client, EventsRequest request, bool follow, const CommandContext& context,
            Take take) {
  request.wait = follow ? kOneCall : Duration::zero();
  Duration patience = kPatience;
  while (!context.interrupted()) {
    TRY_ASSIGN(const EventsAnswer answer,
               ask_for(context, patience, [&] { return client.events(request); }));
    if (follow) patience = kPatienceOfFollowers;
    for (const std::string& line : answer.lines) TRY(take(line));
    if (answer.lines.empty() && !follow) return {};
    if (answer.lines.empty()) context.pause(kApart);
    request.from = answer.next;
  }
  return {};
}

}  // namespace

Status events_command(const EventsArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (arguments.follow) context.catch_interrupts();
  const std::int64_t usual = arguments.follow ? -kShownBefore : 0;
  return page(*client, {.from = arguments.from.value_or(usual)}, arguments.follow, context,
              [&](const std::string& line) {
                return context.print((arguments.json ? line : event_text(line)) + '\n');
              });
}

Status each_live_event(const ConnectionArguments& connection, const CommandContext& context,
                       const std::function<Status(const std::string& line)>& take) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(connection, context));
  context.catch_interrupts();
  TRY(page(*client, {.record = true}, false, context, take));
  if (context.interrupted()) return Error{Code::Cancelled, "interrupted: nothing was written"};
  return {};
}

Status live_record(const LiveRecord& record, const CommandContext& context) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(record.output, OutputFile::Kind::NamedPrivate));
  OutputStream out(std::move(file));
  out << "{\"orrery_live_log\":1}\n";
  std::int64_t events = 0;
  TRY(each_live_event(record.connection, context, [&](const std::string& line) -> Status {
    ++events;
    out << line << '\n';
    return out ? Status() : out.finish();
  }));
  TRY(out.finish());
  return print_done(record.json, {{"file", record.output}, {"events", events}},
                    fmt::format("{}: {} events\n", record.output, events), context);
}

}  // namespace orrery
