#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "cloud/ledger/cost_ledger.h"
#include "cloud/provider/prices.h"

namespace orrery {

// What the published databases do not say of their servers.
struct LedgerImport {
  std::string gpu{};  // of every server
  int gpus = 1;
  OfferClass offer_class = OfferClass::Spot;
  const PriceList* prices = nullptr;  // nothing: the rows have no prices
};

struct ImportedRows {
  std::size_t jobs = 0;
  std::size_t servers = 0;
  std::size_t without_end = 0;  // "RUNNING" rows that were never updated: no cost
};

// Adds the table `cluster_status` of a published database, with or without the column `revoked`, to
// a ledger: all of it or nothing. Stamps are taken for UTC; the authors wrote their local time.
// Errors name the row, and a zone or GPU without a price.
Result<ImportedRows> import_published(const std::string& path, const LedgerImport& how,
                                      CostLedger& ledger);

}  // namespace orrery
