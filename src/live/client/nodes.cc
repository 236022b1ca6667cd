#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/grid.h"
#include "base/plain_text.h"
#include "live/client/commands.h"
#include "live/client/job_texts.h"
#include "live/client/status_text.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

std::string jobs_text(const NodeStatus& node) {
  if (node.jobs.empty()) return "-";
  return fmt::format("{}", fmt::join(node.jobs, ","));
}

std::string table(const NodesAnswer& answer, double now_s, int width) {
  const std::vector<GridColumn> titles = {{"node", true}, {"state", true}, {"free"},
                                          {"gpus"},       {"type", true},  {"cpus"},
                                          {"memory"},     {"seen"},        {"jobs", true}};
  std::vector<std::vector<std::string>> rows;
  std::size_t used = 0;
  int gpus = 0;
  int free = 0;
  for (const NodeStatus& node : answer.nodes) {
    gpus += node.gpus;
    free += node.gpus_free;
    rows.push_back({fitted(node.name, 32), fitted(node.state, 32),
                    fmt::format("{}", node.gpus_free), fmt::format("{}", node.gpus),
                    node.gpu_type.empty() ? "-" : fitted(node.gpu_type, 16),
                    fmt::format("{:g}", static_cast<double>(node.cpu_milli) / 1000),
                    memory_text(node.memory_bytes), short_duration(now_s - node.seen_s) + " ago"});
  }
  for (std::size_t i = 0; i + 1 < titles.size(); ++i) {
    std::size_t widest = columns_of(titles[i].title);
    for (const auto& row : rows) widest = std::max(widest, columns_of(row[i]));
    used += widest + 2;
  }
  const auto columns = static_cast<std::size_t>(std::max(40, width));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].push_back(fitted(jobs_text(answer.nodes[i]), columns > used + 8 ? columns - used : 8));
  }
  if (rows.empty()) return "no nodes; `orrery agent` on a machine makes it one\n";
  std::string notes;
  for (const NodeStatus& node : answer.nodes) {
    if (!node.note.empty())
      notes += fmt::format("{}: {}\n", fitted(node.name, 32), plain_text(node.note));
  }
  return grid(titles, rows) +
         fmt::format("{} node{}, {} of {} GPUs free\n", rows.size(), rows.size() == 1 ? "" : "s",
                     free, gpus) +
         notes;
}

std::string json(const NodesAnswer& answer) {
  Json nodes = Json::array();
  for (const NodeStatus& node : answer.nodes) {
    nodes.push_back({{"name", node.name},
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
                     {"note", node.note.empty() ? Json() : Json(node.note)}});
  }
  return Json{{"nodes", std::move(nodes)}}.dump(-1, ' ', false, Json::error_handler_t::replace) +
         '\n';
}

}  // namespace

Status nodes_command(const NodesArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const NodesAnswer answer, ask_again(context, [&] { return client->nodes(); }));
  return context.print(arguments.json ? json(answer)
                                      : table(answer, context.now_s(), context.width));
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
  return context.print(fmt::format("{} {}\n", request.node, what));
}

}  // namespace orrery
