#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/lifetimes/lifetime.h"
#include "cloud/lifetimes/lifetime_table.h"

namespace orrery {

// When servers are revoked, by GPU, zone and age. The hazard of a GPU over age is a Weibull; a zone
// multiplies it by a factor. The factor is (revoked + k) / (expected + k), drawn towards 1 by k
// servers that behave like the mean, so that a zone with few servers says little.
class RevocationModel {
 public:
  // Servers of fewer than two revocations at different ages have an exponential, or are never
  // revoked if there was none.
  static RevocationModel fit(std::span<const LifetimeRecord> records);

  // With the limit of 24 h of preemptible servers. An unknown zone has factor 1. NotFound lists the
  // known GPUs ("CPU": none).
  Result<Lifetime> lifetime(std::string_view gpu, std::string_view zone) const;
  // 1 if the zone is not known.
  double zone_factor(std::string_view gpu, std::string_view zone) const;

  // Of one server, in natural logarithms: how likely the model makes what was seen of it.
  Result<double> log_likelihood(const LifetimeRecord& record) const;

 private:
  struct OfGpu {
    Weibull weibull{};
    bool never = false;  // True if no server of the GPU was revoked
    std::map<std::string, double, std::less<>> zone_factors{};
  };
  Result<const OfGpu*> find(std::string_view gpu) const;

  std::map<std::string, OfGpu, std::less<>> gpus_;
};

// The mean log-likelihood of a server under models that were fitted without it: servers are dealt
// into ten parts by their place in the file. Higher is better.
struct HeldOutLikelihood {
  double exponential = 0;   // one rate for each GPU
  double weibull = 0;       // one Weibull for each GPU
  double weibull_zone = 0;  // the model above
  std::size_t servers = 0;
};
Result<HeldOutLikelihood> held_out_likelihood(std::span<const LifetimeRecord> records);

}  // namespace orrery
