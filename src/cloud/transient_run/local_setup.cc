#include "cloud/transient_run/local_setup.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "cloud/lifetimes/lifetime_table.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr double kNumberMost = 1e9;
constexpr double kCoresLeast = 0.001;  // a millisecond in each second is the kernel's least

// "A=B", split at the first sign.
Result<std::pair<std::string, std::string>> split(const std::string& text, char sign,
                                                  std::string_view example) {
  const auto at = text.find(sign);
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return invalid(fmt::format("'{}': write it as {}", text, example));
  }
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

Result<double> number_in(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !std::isfinite(value) ||
      value < 0 || value > kNumberMost) {
    return invalid(fmt::format("'{}' is no number from 0 on", text));
  }
  return value;
}

Result<Lifetime> measured(const std::string& text) {
  const auto at = text.rfind(':');
  if (at == std::string::npos) return invalid("write empirical:FILE:GPU");
  const std::string gpu = text.substr(at + 1);
  TRY_ASSIGN(const std::vector<LifetimeRecord> records, read_lifetimes(text.substr(0, at)));
  std::vector<LifetimeSample> samples;
  for (const LifetimeRecord& record : records) {
    if (record.gpu == gpu) samples.push_back(sample_of(record));
  }
  if (samples.empty()) return invalid(fmt::format("{}: no server with a {}", text, gpu));
  return Lifetime::empirical(samples);
}

Result<Lifetime> unlimited(const std::string& text) {
  if (text == "never") return Lifetime::exponential(0);
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "empirical") return measured(rest);
  if (kind == "fixed") {
    TRY_ASSIGN(const Duration age, parse_duration(rest));
    return Lifetime::fixed(age);
  }
  if (kind == "exponential") {
    TRY_ASSIGN(const double rate, number_in(rest));
    return Lifetime::exponential(rate);
  }
  if (kind == "weibull") {
    TRY_ASSIGN(const auto parts, split(rest, ',', "weibull:SHAPE,SCALE_H"));
    TRY_ASSIGN(const double shape, number_in(parts.first));
    TRY_ASSIGN(const double scale, number_in(parts.second));
    if (!(shape > 0) || !(scale > 0)) return invalid("a Weibull has a shape and a scale above 0");
    return Lifetime::weibull({.shape = shape, .scale_h = scale});
  }
  return invalid(
      "write weibull:SHAPE,SCALE_H, exponential:RATE_PER_H, fixed:AGE, never or "
      "empirical:FILE:GPU");
}

// The published traces: {"metadata": {"gap_seconds": 600}, "data": [1, 0, ...]}.
Result<ZoneTrace> read_capacity(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  const auto values = nlohmann::json::parse(text, nullptr, false);
  ZoneTrace capacity;
  try {
    const double gap_s = values.at("metadata").at("gap_seconds").get<double>();
    if (!(gap_s > 0) || gap_s > kNumberMost) return invalid("gap_seconds must be above 0").at(path);
    capacity.tick = from_seconds(gap_s);
    for (const auto& each : values.at("data")) capacity.available.push_back(each.get<int>());
  } catch (const nlohmann::json::exception& problem) {
    return invalid(fmt::format("no trace of spot capacity: {}", problem.what())).at(path);
  }
  return capacity;
}

Result<Duration> duration_of(const std::string& text, std::string_view key) {
  auto duration = parse_duration(text);
  if (!duration.ok()) return std::move(duration).error().at(key);
  return duration;
}

}  // namespace

Result<Lifetime> parse_lifetime(const std::string& text) {
  const auto plus = text.rfind('+');
  TRY_ASSIGN(const Lifetime lifetime, unlimited(text.substr(0, plus)));
  if (plus == std::string::npos) return lifetime;
  TRY_ASSIGN(const Duration limit, parse_duration(text.substr(plus + 1)));
  if (limit <= Duration{}) return invalid("the limit of a life is above 0");
  return lifetime.with_limit(limit);
}

Result<Lifetimes> expected_lifetimes(const LocalSpec& spec) {
  Lifetimes lifetimes;
  for (const std::string& text : spec.lifetimes) {
    TRY_ASSIGN(const auto parts, split(text, '=', "GPU=weibull:0.6,102.9"));
    auto lifetime = parse_lifetime(parts.second);
    if (!lifetime.ok()) return std::move(lifetime).error().at("lifetimes: " + text);
    lifetimes.insert_or_assign(parts.first, std::move(lifetime).value());
  }
  return lifetimes;
}

const Lifetime* lifetime_of(const Lifetimes& lifetimes, const Offer& offer) {
  if (offer.offer_class != OfferClass::Spot) return nullptr;
  auto found = lifetimes.find(offer.gpu);
  if (found == lifetimes.end()) found = lifetimes.find("*");
  return found == lifetimes.end() ? nullptr : &found->second;
}

Result<WorkerCores> worker_cores(const LocalSpec& spec) {
  WorkerCores cores;
  for (const std::string& text : spec.cores) {
    TRY_ASSIGN(const auto parts, split(text, '=', "GPU=0.1"));
    auto number = number_in(parts.second);
    if (!number.ok() || number.value() < kCoresLeast) {
      return invalid(
          fmt::format("cores: {}: write {} cores or more, such as GPU=0.1", text, kCoresLeast));
    }
    cores[parts.first] = number.value();
  }
  return cores;
}

double cores_of(const WorkerCores& cores, const Offer& offer) {
  auto found = cores.find(offer.gpu);
  if (found == cores.end()) found = cores.find("*");
  return found == cores.end() ? 0 : found->second;
}

Result<ServerWorld> local_world(const LocalSpec& spec, const PriceList& prices, Time start) {
  ServerWorld world{.offers = prices.offers, .seed = static_cast<std::uint64_t>(spec.seed)};
  TRY_ASSIGN(const Duration least, duration_of(spec.startup_least, "startup_least"));
  TRY_ASSIGN(const Duration most, duration_of(spec.startup_most, "startup_most"));
  if (most < least) return invalid("startup_most: write no less than startup_least");
  world.start_up = [least, most](const Offer&, Random& random) {
    return least + from_seconds(seconds(most - least) * random.uniform());
  };
  TRY_ASSIGN(const Lifetimes lifetimes, expected_lifetimes(spec));
  world.lifetime = [lifetimes](const Offer& offer) -> std::optional<Lifetime> {
    const Lifetime* const found = lifetime_of(lifetimes, offer);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  };
  for (const std::string& text : spec.revocations) {
    TRY_ASSIGN(const auto parts, split(text, '@', "SERVER@90s"));
    TRY_ASSIGN(const Duration at, duration_of(parts.second, "revocations: " + text));
    world.revocations.push_back({.server = parts.first, .at = start + at});
  }
  for (const std::string& text : spec.capacity) {
    TRY_ASSIGN(const auto parts, split(text, '=', "ZONE=FILE"));
    TRY_ASSIGN(world.traces[parts.first], read_capacity(parts.second));
    world.traces[parts.first].begin = start;
  }
  if (spec.shocks_per_hour > 0) {
    for (const Offer& offer : prices.offers) {
      world.shocks[offer.zone] = {.per_hour = spec.shocks_per_hour,
                                  .probability = spec.shock_share};
    }
  }
  return world;
}

}  // namespace orrery
