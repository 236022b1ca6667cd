#include "cloud/provider/prices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "base/files.h"
#include "base/plain_text.h"
#include "base/toml_table.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::size_t kOffersMax = 100'000;
constexpr double kUsdPerHourMax = 100'000;
constexpr double kMemoryMax_gib = 1'000'000;
constexpr std::int64_t kGpusMax = 64;
constexpr std::int64_t kCpusMax = 100'000;

constexpr auto kTopKeys = std::to_array<std::string_view>({"date", "source", "offer"});
constexpr auto kTopNeeds = std::to_array<std::string_view>({"date", "offer"});
constexpr auto kOfferKeys =
    std::to_array<std::string_view>({"zones", "machine_type", "gpu", "gpus", "cpus", "memory_gib",
                                     "class", "usd_per_hour", "life_max", "notice"});
constexpr auto kOfferNeeds = std::to_array<std::string_view>({"zones", "class", "usd_per_hour"});

// A zone and a GPU type go into names of servers and into messages.
Status check_word(const TomlTable& table, std::string_view key, std::string_view word) {
  const bool plain = std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
  if (plain && word.size() <= 100) return {};
  return table.wrong(key, fmt::format("'{}' must be letters, digits, '-', '_' or '.'",
                                      plain_text(word.substr(0, 100))));
}

bool is_date(std::string_view text) {
  if (text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 4 || i == 7;
    if (dash ? text[i] != '-' : text[i] < '0' || text[i] > '9') return false;
  }
  const int month = (text[5] - '0') * 10 + text[6] - '0';
  const int day = (text[8] - '0') * 10 + text[9] - '0';
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

Result<Duration> duration_in(const TomlTable& table, std::string_view key) {
  TRY_ASSIGN(const std::string text, table.text(key, "0s"));
  auto duration = parse_duration(text);
  if (!duration.ok()) return table.wrong(key, duration.error().message);
  return duration;
}

Result<int> count_in(const TomlTable& table, std::string_view key, std::int64_t fallback,
                     std::int64_t max) {
  TRY_ASSIGN(const std::int64_t count, table.integer(key, fallback));
  if (count < 0 || count > max) {
    return table.wrong(key, fmt::format("{} is outside 0 to {}", count, max));
  }
  return static_cast<int>(count);
}

// All of an [[offer]] but its zone.
Result<Offer> offer_in(const TomlTable& table) {
  TRY(table.check_keys(kOfferKeys));
  TRY(table.check_present(kOfferNeeds, "[[offer]]"));
  Offer offer;
  TRY_ASSIGN(offer.machine_type, table.text("machine_type", ""));
  TRY(check_word(table, "machine_type", offer.machine_type));
  TRY_ASSIGN(offer.gpu, table.text("gpu", ""));
  TRY(check_word(table, "gpu", offer.gpu));
  TRY_ASSIGN(offer.gpus, count_in(table, "gpus", offer.gpu.empty() ? 0 : 1, kGpusMax));
  if (offer.gpu.empty() != (offer.gpus == 0)) {
    return table.wrong(offer.gpu.empty() ? "gpus" : "gpu",
                       "a machine with GPUs has both a 'gpu' and 'gpus' of 1 or more");
  }
  TRY_ASSIGN(offer.cpus, count_in(table, "cpus", 0, kCpusMax));
  TRY_ASSIGN(offer.memory_gib, table.number("memory_gib", kMemoryMax_gib));
  TRY_ASSIGN(const std::string word, table.text("class", ""));
  const auto offer_class = offer_class_of(word);
  if (!offer_class) return table.wrong("class", "must be \"on-demand\", \"spot\" or \"flex\"");
  offer.offer_class = *offer_class;
  TRY_ASSIGN(offer.price_usd_per_hour, table.number("usd_per_hour", kUsdPerHourMax));
  TRY_ASSIGN(offer.notice, duration_in(table, "notice"));
  if (table.find("life_max") != nullptr) {
    TRY_ASSIGN(offer.life_max, duration_in(table, "life_max"));
    if (*offer.life_max <= Duration::zero()) return table.wrong("life_max", "must be above 0");
  } else if (offer.offer_class == OfferClass::Flex) {
    return table.wrong("'life_max' is missing in [[offer]]; flex machines end after a fixed life");
  }
  return offer;
}

std::string machine_text(std::string_view gpu, int gpus, OfferClass offer_class) {
  return gpu.empty() ? fmt::format("{} without GPU", text_of(offer_class))
                     : fmt::format("{} {} x {}", text_of(offer_class), gpus, gpu);
}

std::string place_text(const PriceList& prices) {
  return fmt::format("{} ({})", prices.name, prices.date);
}

}  // namespace

Result<PriceList> parse_prices(std::string_view name, std::string_view text) {
  TRY_ASSIGN(const toml::table document, parse_toml(name, text));
  const TomlTable top(name, document);
  TRY(top.check_keys(kTopKeys));
  TRY(top.check_present(kTopNeeds, ""));
  PriceList prices{.name = std::string(name), .date = {}, .source = {}, .offers = {}};
  TRY_ASSIGN(prices.date, top.text("date", ""));
  if (!is_date(prices.date)) return top.wrong("date", "must be a day such as \"2019-02-15\"");
  TRY_ASSIGN(prices.source, top.text("source", ""));
  prices.source = plain_text(prices.source);
  TRY_ASSIGN(const std::vector<TomlTable> tables, top.tables("offer"));
  std::set<std::tuple<std::string, std::string, int, OfferClass>> known;
  for (const TomlTable& table : tables) {
    TRY_ASSIGN(Offer offer, offer_in(table));
    TRY_ASSIGN(const std::vector<std::string> zones, table.texts("zones"));
    if (zones.empty()) return table.wrong("zones", "is empty; list the zones with this price");
    for (const std::string& zone : zones) {
      TRY(check_word(table, "zones", zone));
      offer.zone = zone;
      if (!known.emplace(zone, offer.gpu, offer.gpus, offer.offer_class).second) {
        return table.wrong(
            "zones", fmt::format("there is a price for {} in {} already",
                                 machine_text(offer.gpu, offer.gpus, offer.offer_class), zone));
      }
      prices.offers.push_back(offer);
    }
    if (prices.offers.size() > kOffersMax) {
      return table.wrong(fmt::format("there are more than {} offers", kOffersMax));
    }
  }
  if (prices.offers.empty()) return top.wrong("offer", "is empty; a price list needs an offer");
  return prices;
}

Result<PriceList> read_prices(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_prices(path, text);
}

Result<Offer> find_offer(const PriceList& prices, std::string_view zone, std::string_view gpu,
                         int gpus, OfferClass offer_class) {
  std::set<std::string> zones;
  std::set<std::string> gpu_types;
  std::vector<std::string> machines;
  bool has_gpu = gpu.empty();
  for (const Offer& offer : prices.offers) {
    const bool same_machine = offer.gpu == gpu && offer.gpus == gpus;
    if (offer.zone == zone && same_machine && offer.offer_class == offer_class) return offer;
    zones.insert(offer.zone);
    if (!offer.gpu.empty()) gpu_types.insert(offer.gpu);
    has_gpu |= offer.gpu == gpu;
    if (offer.zone == zone) {
      machines.push_back(machine_text(offer.gpu, offer.gpus, offer.offer_class));
    }
  }
  const auto missing = [&](std::string what) {
    return Error{Code::NotFound, fmt::format("{}: {}", place_text(prices), what)};
  };
  if (!zones.contains(std::string(zone))) {
    return missing(fmt::format("there is no zone '{}'; the zones are {}", plain_text(zone),
                               fmt::join(zones, ", ")));
  }
  if (!has_gpu) {
    return missing(fmt::format("there is no GPU '{}'; the GPUs are {}", plain_text(gpu),
                               fmt::join(gpu_types, ", ")));
  }
  return missing(fmt::format("there is no price for {} in {}; there is {}",
                             machine_text(gpu, gpus, offer_class), zone,
                             fmt::join(machines, ", ")));
}

std::optional<Offer> same_on_demand(const PriceList& prices, const Offer& offer) {
  auto found = find_offer(prices, offer.zone, offer.gpu, offer.gpus, OfferClass::OnDemand);
  return found.ok() ? std::optional(std::move(found).value()) : std::nullopt;
}

}  // namespace orrery
