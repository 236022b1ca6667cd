#include "cloud/analysis/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace orrery {

std::string_view embedded_gce_2019_02_toml();

namespace {

Result<double> usd_per_second(const PriceList& prices, std::string_view gpu, OfferClass kind) {
  const auto found = std::ranges::find_if(prices.offers, [&](const Offer& offer) {
    return offer.gpu == gpu && offer.offer_class == kind && offer.gpus <= 1;
  });
  if (found == prices.offers.end()) {
    return Error{Code::NotFound,
                 fmt::format("{}: holds no {} offer with {}; add one", prices.name, text_of(kind),
                             gpu.empty() ? "no GPU" : fmt::format("one {}", gpu))};
  }
  return found->price_usd_per_hour / 3600;
}

}  // namespace

double Rates::of_cluster(const TrainingSetup& setup) const {
  double sum = setup.parameter_servers * parameter_server;
  for (const MeasuredGpu gpu : kMeasuredGpus) {
    sum += setup.workers[static_cast<std::size_t>(gpu)] * of_worker(setup, gpu);
  }
  return sum;
}

Result<Rates> rates_of(const PriceList& prices) {
  Rates rates;
  TRY_ASSIGN(rates.k80_on_demand, usd_per_second(prices, "K80", OfferClass::OnDemand));
  for (const MeasuredGpu gpu : kMeasuredGpus) {
    TRY_ASSIGN(rates.spot[static_cast<std::size_t>(gpu)],
               usd_per_second(prices, text_of(gpu), OfferClass::Spot));
  }
  TRY_ASSIGN(rates.parameter_server, usd_per_second(prices, "", OfferClass::OnDemand));
  return rates;
}

Result<PriceList> published_prices() {
  return parse_prices("gce-2019-02.toml", embedded_gce_2019_02_toml());
}

}  // namespace orrery
