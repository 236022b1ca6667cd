#include "cloud/models/revocation_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cloud/lifetimes/lifetime_fit.h"

namespace orrery {
namespace {

constexpr double kPriorServers = 4;  // k of the class comment, in expected revocations
constexpr Duration kShortest = std::chrono::seconds(30);

double hours(Duration age) { return seconds(std::max(age, kShortest)) / 3600; }

double exponent(const Weibull& weibull, Duration age) {
  return std::pow(hours(age) / weibull.scale_h, weibull.shape);
}

// Scales the hazard: (t / scale)^shape times the factor.
Weibull scaled(const Weibull& weibull, double factor) {
  return {weibull.shape, weibull.scale_h * std::pow(factor, -1 / weibull.shape)};
}

double log_likelihood_of(const Weibull& weibull, const LifetimeRecord& record) {
  double value = -exponent(weibull, record.age);
  if (record.revoked) {
    value += std::log(weibull.shape / weibull.scale_h) +
             (weibull.shape - 1) * std::log(hours(record.age) / weibull.scale_h);
  }
  return value;
}

std::map<std::string, std::vector<LifetimeSample>> samples_by_gpu(
    std::span<const LifetimeRecord> records) {
  std::map<std::string, std::vector<LifetimeSample>> samples;
  for (const LifetimeRecord& record : records) samples[record.gpu].push_back(sample_of(record));
  return samples;
}

}  // namespace

RevocationModel RevocationModel::fit(std::span<const LifetimeRecord> records) {
  RevocationModel model;
  for (const auto& [gpu, samples] : samples_by_gpu(records)) {
    OfGpu& fitted = model.gpus_[gpu];
    const auto weibull = fit_weibull(samples);
    const auto exponential = fit_exponential(samples);
    if (weibull.ok()) {
      fitted.weibull = weibull.value().parameters;
    } else if (exponential.ok()) {
      fitted.weibull = {1, 1 / exponential.value().rate_per_h};
    } else {
      fitted.never = true;
      continue;
    }
    struct Seen {
      double revoked = 0, expected = 0;
    };
    std::map<std::string, Seen> zones;
    for (const LifetimeRecord& record : records) {
      if (record.gpu != gpu) continue;
      Seen& seen = zones[record.zone];
      seen.revoked += record.revoked;
      seen.expected += exponent(fitted.weibull, record.age);
    }
    for (const auto& [zone, seen] : zones) {
      fitted.zone_factors[zone] = (seen.revoked + kPriorServers) / (seen.expected + kPriorServers);
    }
  }
  return model;
}

Result<const RevocationModel::OfGpu*> RevocationModel::find(std::string_view gpu) const {
  const auto found = gpus_.find(gpu);
  if (found != gpus_.end()) return &found->second;
  std::vector<std::string_view> known;
  for (const auto& [name, fitted] : gpus_) known.push_back(name);
  return Error{Code::NotFound,
               fmt::format("no lifetime is known of GPU '{}'; the known ones are {}", gpu,
                           fmt::join(known, ", "))};
}

double RevocationModel::zone_factor(std::string_view gpu, std::string_view zone) const {
  const auto fitted = find(gpu);
  if (!fitted.ok()) return 1;
  const auto factor = fitted.value()->zone_factors.find(zone);
  return factor == fitted.value()->zone_factors.end() ? 1 : factor->second;
}

Result<Lifetime> RevocationModel::lifetime(std::string_view gpu, std::string_view zone) const {
  TRY_ASSIGN(const OfGpu* fitted, find(gpu));
  const Lifetime endless = fitted->never
                               ? Lifetime::exponential(0)
                               : Lifetime::weibull(scaled(fitted->weibull, zone_factor(gpu, zone)));
  return endless.with_limit(kPreemptibleLife);
}

Result<double> RevocationModel::log_likelihood(const LifetimeRecord& record) const {
  TRY_ASSIGN(const OfGpu* fitted, find(record.gpu));
  if (fitted->never) return record.revoked ? -HUGE_VAL : 0.0;
  return log_likelihood_of(scaled(fitted->weibull, zone_factor(record.gpu, record.zone)), record);
}

Result<HeldOutLikelihood> held_out_likelihood(std::span<const LifetimeRecord> records) {
  constexpr std::size_t kParts = 10;
  HeldOutLikelihood result;
  for (std::size_t part = 0; part < kParts; ++part) {
    std::vector<LifetimeRecord> others;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (i % kParts != part) others.push_back(records[i]);
    }
    const auto samples = samples_by_gpu(others);
    const RevocationModel zones = RevocationModel::fit(others);
    for (std::size_t i = part; i < records.size(); i += kParts) {
      const auto of_gpu = samples.find(records[i].gpu);
      if (of_gpu == samples.end()) continue;
      TRY_ASSIGN(const ExponentialFit exponential, fit_exponential(of_gpu->second));
      TRY_ASSIGN(const WeibullFit weibull, fit_weibull(of_gpu->second));
      TRY_ASSIGN(const double with_zone, zones.log_likelihood(records[i]));
      result.exponential += log_likelihood_of({1, 1 / exponential.rate_per_h}, records[i]);
      result.weibull += log_likelihood_of(weibull.parameters, records[i]);
      result.weibull_zone += with_zone;
      result.servers += 1;
    }
  }
  if (result.servers == 0) return Error{Code::FailedPrecondition, "there are no lifetimes"};
  const auto n = static_cast<double>(result.servers);
  result.exponential /= n, result.weibull /= n, result.weibull_zone /= n;
  return result;
}

}  // namespace orrery
