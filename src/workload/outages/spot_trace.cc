#include "workload/outages/spot_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <set>

#include "base/random.h"
#include "workload/formats/row.h"
#include "workload/text/json_fields.h"

namespace orrery {
namespace {

using Token = JsonStream::Token;

constexpr std::size_t kTicksMax = 20'000'000;
constexpr std::int64_t kInstancesMax = 1'000'000;
constexpr double kGapMax_s = 86400;

Status take_metadata(JsonStream& json, SpotTrace& trace) {
  TRY_ASSIGN(const Token token, json.next());
  if (token != Token::BeginObject) return json.wrong("'metadata' is not an object");
  return each_key(json, [&](std::string_view key) -> Status {
    if (key != "gap_seconds") return skip_value(json);
    TRY_ASSIGN(const Token number, json.next());
    if (number != Token::Number) return json.wrong("'gap_seconds' is not a number");
    const auto gap_s = parse_number(json.text(), 0.001, kGapMax_s);
    if (!gap_s.ok()) return json.wrong("'gap_seconds': " + gap_s.error().message);
    trace.gap = from_seconds(gap_s.value());
    return {};
  });
}

Status take_data(JsonStream& json, SpotTrace& trace) {
  TRY_ASSIGN(const Token token, json.next());
  if (token != Token::BeginList) return json.wrong("'data' is not a list");
  while (true) {
    TRY_ASSIGN(const Token next, json.next());
    if (next == Token::EndList) return {};
    if (next != Token::Number) return json.wrong("'data' holds something that is no number");
    if (trace.available.size() == kTicksMax) {
      return json.wrong(fmt::format("'data' has more than {} ticks", kTicksMax));
    }
    const auto count = parse_integer(json.text(), 0, kInstancesMax);
    if (!count.ok()) return json.wrong("'data': " + count.error().message);
    trace.available.push_back(static_cast<std::int32_t>(count.value()));
  }
}

// The nodes of one zone.
class Zone {
 public:
  Zone(std::vector<NodeId> nodes, Random& random) : up_(std::move(nodes)), random_(random) {}

  std::size_t up() const { return up_.size(); }

  void lose_one(Time now) {
    const auto last = static_cast<std::int64_t>(up_.size()) - 1;
    const auto at = static_cast<std::size_t>(random_.between(0, last));
    gone_.push_back({up_[at], now});
    up_[at] = up_.back();
    up_.pop_back();
  }
  Outage bring_back(Time now) {
    Outage outage = gone_.front();
    gone_.pop_front();
    outage.to = now;
    up_.push_back(outage.node);
    return outage;
  }
  bool is_whole() const { return gone_.empty(); }

 private:
  std::vector<NodeId> up_;
  std::deque<Outage> gone_;
  Random& random_;
};

}  // namespace

Result<SpotTrace> parse_spot_trace(std::string_view name, std::istream& in) {
  LineReader lines(name, in);
  TRY_ASSIGN(const std::string_view start, lines.peek());
  if (start.empty()) return lines.wrong_file("is empty");
  JsonStream json(lines);
  SpotTrace trace{.name = std::string(name)};
  TRY_ASSIGN(const Token object, json.next());
  if (object != Token::BeginObject)
    return json.wrong("is not an object with 'metadata' and 'data'");
  TRY(each_key(json, [&](std::string_view key) -> Status {
    if (key == "metadata") return take_metadata(json, trace);
    if (key == "data") return take_data(json, trace);
    return skip_value(json);
  }));
  TRY_ASSIGN(const Token end, json.next());
  if (end != Token::End) return json.wrong("there is more after the object");
  if (trace.gap == Duration::zero()) return json.wrong("'metadata' has no 'gap_seconds'");
  if (trace.available.empty()) return json.wrong("'data' has no ticks");
  if (seconds(trace.gap) * static_cast<double>(trace.available.size()) > kTimeMax_s) {
    return json.wrong("the trace is longer than 100 years");
  }
  if (std::ranges::max(trace.available) == 0) {
    return json.wrong("no instance is available at any time, so no node would ever be there");
  }
  return trace;
}

Result<SpotTrace> read_spot_trace(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  return parse_spot_trace(path, in);
}

std::vector<std::size_t> zones_of(const Cluster& cluster, std::size_t first, std::size_t zones) {
  std::vector<std::size_t> out;
  std::set<int> switches;
  for (std::size_t node = first; node < cluster.nodes.size(); ++node) {
    switches.insert(cluster.nodes[node].switch_index);
  }
  const std::size_t nodes = cluster.nodes.size() - first;
  for (std::size_t i = 0; i < nodes; ++i) {
    const auto found = switches.find(cluster.nodes[first + i].switch_index);
    out.push_back(switches.size() == zones
                      ? static_cast<std::size_t>(std::distance(switches.begin(), found))
                      : i * zones / nodes);
  }
  return out;
}

Result<std::vector<Outage>> outages_on(std::span<const SpotTrace> traces, const Cluster& cluster,
                                       std::size_t first, std::uint64_t seed) {
  if (cluster.nodes.size() < first + traces.size()) {
    return invalid(fmt::format("{} zones for {} nodes that are not on-demand; name fewer traces",
                               traces.size(),
                               cluster.nodes.size() - std::min(first, cluster.nodes.size())));
  }
  const std::vector<std::size_t> zone_of = zones_of(cluster, first, traces.size());
  Random random(seed);
  std::vector<Outage> outages;
  for (std::size_t z = 0; z < traces.size(); ++z) {
    const SpotTrace& trace = traces[z];
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < zone_of.size(); ++i) {
      if (zone_of[i] == z) nodes.push_back(static_cast<NodeId>(first + i));
    }
    const auto most = static_cast<std::size_t>(std::ranges::max(trace.available));
    const std::size_t all = nodes.size();
    Zone zone(std::move(nodes), random);
    for (std::size_t tick = 0; tick < trace.available.size(); ++tick) {
      const Time now(trace.gap * static_cast<std::int64_t>(tick));
      const std::size_t there = all * static_cast<std::size_t>(trace.available[tick]) / most;
      while (zone.up() > there) zone.lose_one(now);
      while (zone.up() < there) outages.push_back(zone.bring_back(now));
    }
    while (!zone.is_whole()) outages.push_back(zone.bring_back(trace.end()));
  }
  return outages;
}

}  // namespace orrery
