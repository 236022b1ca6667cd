#include "workload/clusters/worker_list.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "workload/formats/row.h"
#include "workload/text/csv.h"

namespace orrery {
namespace {

enum Column : std::size_t { kAddress, kPort, kGpu, kCpu, kNuma };
constexpr auto kColumns = std::to_array<std::string_view>(
    {"IP", "port", "start_gpu_id", "start_cpu_id", "needs_numa_aware_alloc"});
constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kDeviceMax = 1'000'000;
constexpr std::size_t kHostBytesMax = 253;
constexpr std::size_t kLabelBytesMax = 63;

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' &&
         label.back() != '-' &&
         std::ranges::all_of(label, [](char c) { return is_letter_or_digit(c) || c == '-'; });
}

bool is_host_name(std::string_view text) {
  if (text.size() > kHostBytesMax) return false;
  std::string_view last;
  while (true) {
    const std::size_t dot = text.find('.');
    last = text.substr(0, dot);
    if (!is_label(last)) return false;
    if (dot == std::string_view::npos) break;
    text.remove_prefix(dot + 1);
  }
  // A name that ends in digits is an IPv4 address that went wrong, such as 10.0.0.256.
  return !std::ranges::all_of(last, [](char c) { return c >= '0' && c <= '9'; });
}

bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes;
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1 || is_host_name(text);
}

Result<Worker> read_worker(const Row& row) {
  Worker worker;
  TRY_ASSIGN(worker.address, row.name(kAddress));
  if (!is_address(worker.address)) {
    return row.wrong(kAddress, fmt::format("'{}' is no IP address, nor a host name",
                                           worker.address.substr(0, 40)));
  }
  TRY_ASSIGN(const std::int64_t port, row.integer(kPort, 1, kPortMax));
  TRY_ASSIGN(const std::int64_t gpu, row.integer(kGpu, 0, kDeviceMax));
  TRY_ASSIGN(const std::int64_t cpu, row.integer(kCpu, 0, kDeviceMax));
  TRY_ASSIGN(const std::int64_t numa, row.integer(kNuma, 0, 1));
  worker.port = static_cast<int>(port);
  worker.first_gpu = static_cast<int>(gpu);
  worker.first_cpu = static_cast<int>(cpu);
  worker.numa_aware = numa == 1;
  return worker;
}

}  // namespace

Result<std::vector<Worker>> parse_workers(std::string_view name, std::istream& in) {
  LineReader lines(name, in);
  CsvLine cut;
  Row row(lines, kColumns);
  std::vector<Worker> workers;
  std::map<std::pair<std::string, int>, std::int64_t> lines_of;
  while (true) {
    TRY_ASSIGN(const bool more, lines.next());
    if (!more) break;
    const auto fields = cut.split(lines.line());
    if (!fields.ok()) return lines.wrong(fields.error().message);
    if (fields.value().size() != kColumns.size()) {
      return lines.wrong(fmt::format("has {} fields, but a worker has {}: {}",
                                     fields.value().size(), kColumns.size(),
                                     fmt::join(kColumns, ",")));
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) row.set(i, fields.value()[i]);
    TRY_ASSIGN(Worker worker, read_worker(row));
    const auto [place, fresh] =
        lines_of.try_emplace(std::pair(worker.address, worker.port), lines.number());
    if (!fresh) {
      return lines.wrong(fmt::format("{} port {} was given before, in line {}", worker.address,
                                     worker.port, place->second));
    }
    workers.push_back(std::move(worker));
  }
  if (workers.empty()) return lines.wrong_file("is empty; write a line for each server");
  return workers;
}

Result<std::vector<Worker>> read_workers(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  return parse_workers(path, in);
}

Status check_workers(std::string_view name, const std::vector<Worker>& workers,
                     const Cluster& cluster) {
  if (workers.size() == cluster.nodes.size()) return {};
  return invalid(fmt::format("{}: has {} workers, but {} has {} servers; write a line for each",
                             name, workers.size(), cluster.name, cluster.nodes.size()));
}

}  // namespace orrery
