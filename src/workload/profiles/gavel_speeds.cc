#include "workload/profiles/gavel_speeds.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "workload/formats/row.h"

namespace orrery {
namespace {

using Json = nlohmann::json;
constexpr std::size_t kFileBytesMax = 64 << 20;

// The job type and the number of workers in a key such as "('LM (batch size 5)', 2)".
std::optional<std::pair<std::string, int>> parse_key(std::string_view key) {
  const std::size_t end = key.rfind("', ");
  if (!key.starts_with("('") || !key.ends_with(')') || end == std::string_view::npos || end < 2) {
    return std::nullopt;
  }
  const auto workers = parse_integer(key.substr(end + 3, key.size() - end - 4), 1, kGpusMax);
  if (!workers.ok()) return std::nullopt;
  return std::pair(std::string(key.substr(2, end - 2)), static_cast<int>(workers.value()));
}

Result<std::string> choose_type(const Json& types, std::string_view wanted) {
  if (!wanted.empty()) {
    if (types.contains(wanted)) return std::string(wanted);
    std::vector<std::string> known;
    for (const auto& [name, table] : types.items()) known.push_back(name);
    return invalid(fmt::format("has no GPU type '{}'; it has {}", wanted, fmt::join(known, ", ")));
  }
  if (types.contains("v100")) return std::string("v100");
  if (types.size() == 1) return types.begin().key();
  return invalid("has several GPU types; say which with --gpu-type");
}

}  // namespace

Result<GavelSpeeds> GavelSpeeds::parse(std::string_view name, std::string_view text,
                                       std::string_view gpu_type) {
  const auto wrong = [&](std::string_view what) {
    return invalid(fmt::format("{}: {}", name, what));
  };
  const Json types = Json::parse(text, nullptr, false);
  if (types.is_discarded()) return wrong("is not valid JSON");
  if (!types.is_object() || types.empty()) return wrong("is not an object with GPU types");
  auto type = choose_type(types, gpu_type);
  if (!type.ok()) return wrong(type.error().message);
  const Json& table = types[type.value()];
  if (!table.is_object()) return wrong(fmt::format("'{}' is not an object", type.value()));
  GavelSpeeds speeds;
  for (const auto& [key, entry] : table.items()) {
    auto job = parse_key(key);
    if (!job) return wrong(fmt::format("'{}' is not a key such as ('A3C', 1)", key.substr(0, 80)));
    const auto alone = entry.is_object() ? entry.find("null") : entry.end();
    if (!entry.is_object() || alone == entry.end() || !alone->is_number()) {
      return wrong(fmt::format("'{}' has no number under \"null\"", key.substr(0, 80)));
    }
    const double speed = alone->get<double>();
    if (!(speed >= 0 && speed <= kSpeedMax) || (speed > 0 && speed < kSpeedMin)) {
      return wrong(fmt::format("'{}': {} steps a second make no sense", key.substr(0, 80), speed));
    }
    speeds.speeds_.emplace(std::move(*job), speed);
  }
  return speeds;
}

Result<GavelSpeeds> GavelSpeeds::read(const std::string& path, std::string_view gpu_type) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return invalid(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text;
  std::vector<char> part(1 << 16);
  do {
    in.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part.data(), static_cast<std::size_t>(in.gcount()));
  } while (in && text.size() <= kFileBytesMax);
  if (in.bad()) return Error{Code::DataLoss, path + ": reading stopped with an input error"};
  if (text.size() > kFileBytesMax) {
    return invalid(fmt::format("{}: is larger than {} bytes", path, kFileBytesMax));
  }
  return parse(path, text, gpu_type);
}

double GavelSpeeds::steps_per_s(std::string_view job_type, int workers) const {
  const auto found = speeds_.find(std::pair(std::string(job_type), workers));
  return found == speeds_.end() ? 0 : found->second;
}

}  // namespace orrery
