#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/provider/offer.h"

namespace orrery {

// The offers of a provider with their prices on one day. Prices change, so they stand in a dated
// file and never in code.
struct PriceList {
  std::string name;  // of the file, for messages
  std::string date;  // "2019-02-15"
  std::string source;
  std::vector<Offer> offers;
};

// Reads TOML: `date`, `source`, then one [[offer]] for each machine, class and list of zones.
// docs/formats/prices.md describes it. `name` stands in messages. No two offers have the same zone,
// GPU, GPU count and class.
Result<PriceList> parse_prices(std::string_view name, std::string_view text);
Result<PriceList> read_prices(const std::string& path);

// The one offer for a zone, GPU ("" for none), GPU count and class. NotFound lists what there is.
Result<Offer> find_offer(const PriceList& prices, std::string_view zone, std::string_view gpu,
                         int gpus, OfferClass offer_class);

// The on-demand offer for the same zone, GPU and count; nothing if its price is not known.
std::optional<Offer> same_on_demand(const PriceList& prices, const Offer& offer);

}  // namespace orrery
