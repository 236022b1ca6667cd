#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "live/client/commands.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr auto kCount = ColumnKind::Count;

Json json_of(const NodeStatus& node) {
  return {{"name", node.name},
          {"state", node.state},
          {"address", node.address},
          {"gpus", node.gpus},
          {"gpus_free", node.gpus_free},
          {"gpu_type", node.gpu_type.empty() ? Json() : Json(node.gpu_type)},
          {"cpus", static_cast<double>(node.cpu_milli) / 1000},
          {"memory_bytes", node.memory_bytes},
          {"seen_s", node.seen_s},
          {"jobs", node.jobs},
          {"zone", node.zone.empty() ? Json() : Json(node.zone)},
          {"losses_per_day", node.losses_per_day},
          {"note", node.note.empty() ? Json() : Json(node.note)}};
}

Listing listing_of(const NodesAnswer& answer, double now_s) {
  Listing listing{
      .name = "nodes",
      .columns =
          {{.title = "node", .field = "name", .least = 12},
           {"state", "state"},
           {"free", "gpus_free", kCount},
           {"gpus", "gpus", kCount},
           {.title = "type", .field = "gpu_type", .least = 6, .drop_rank = 3},
           {.title = "cpus", .field = "cpus", .kind = kCount, .drop_rank = 2},
           {.title = "memory", .field = "memory_bytes", .kind = ColumnKind::Bytes, .drop_rank = 1},
           {"seen ago", "seen_s", ColumnKind::Age},
           {.title = "jobs", .field = "jobs", .least = 8},
           {.title = "address", .field = "address", .kind = ColumnKind::Text, .wide = true},
           {.title = "zone", .field = "zone", .kind = ColumnKind::Text, .wide = true},
           {.title = "losses/day", .field = "losses_per_day", .kind = kCount, .wide = true}},
      .fields = fields_of(json_of({})),
      .none = "no nodes; `orrery agent` on a machine makes it one\n",
      .now_s = now_s};
  int gpus = 0;
  int free = 0;
  std::string notes;
  for (const NodeStatus& node : answer.nodes) {
    gpus += node.gpus;
    free += node.gpus_free;
    listing.rows.push_back(json_of(node));
    if (node.note.empty()) continue;
    notes += fmt::format("{}: {}\n", fitted(node.name, 32), plain_text(node.note));
  }
  if (listing.rows.empty()) return listing;
  listing.summary = fmt::format("{} node{}, {} of {} GPUs free\n", listing.rows.size(),
                                listing.rows.size() == 1 ? "" : "s", free, gpus) +
                    notes;
  return listing;
}

}  // namespace

Status nodes_command(const NodesArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const NodesAnswer answer, ask_again(context, [&] { return client->nodes(); }));
  return print_listing(listing_of(answer, context.now_s()), arguments.list, context);
}

Status drain_command(const DrainArguments& arguments, const CommandContext& context) {
  const DrainRequest& request = arguments.request;
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY(client->drain(request));
  const char* what = request.resume ? "takes jobs again"
                     : request.replace_log
                         ? "stops the jobs of the other log, and obeys this scheduler then"
                     : request.lost ? "counts as switched off; its jobs start elsewhere"
                     : request.now  ? "takes no more jobs; those on it move away"
                                    : "takes no more jobs; those on it run to their end";
  return print_done(arguments.json, {{"node", request.node}, {"takes_jobs", request.resume}},
                    fmt::format("{} {}\n", request.node, what), context);
}

}  // namespace orrery
