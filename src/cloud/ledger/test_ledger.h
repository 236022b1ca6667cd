#pragma once

#include <gtest/gtest.h>

#include <string>

#include "cloud/ledger/cost_ledger.h"

namespace orrery {

// 2019-02-16 00:00:00 UTC and some seconds.
inline Time february(double at_s) {
  return Time(Duration(std::chrono::seconds(1'550'275'200))) + from_seconds(at_s);
}

inline ServerSpec spot_worker(const std::string& job, int index) {
  return {.name = job + "-worker-" + std::to_string(index),
          .job = job,
          .role = index == 0 ? "chief" : "worker",
          .index = index,
          .offer = {.zone = "us-west1-b",
                    .machine_type = "m",
                    .gpu = "K80",
                    .gpus = 1,
                    .offer_class = OfferClass::Spot,
                    .price_usd_per_hour = 0.36},
          .request_id = "id-" + std::to_string(index)};
}

inline ServerEvent ledger_event(std::int64_t sequence, ServerEvent::Kind kind,
                                const std::string& server, double at_s) {
  ServerEvent event;
  event.sequence = sequence;
  event.at = february(at_s);
  event.kind = kind;
  event.server = server;
  return event;
}

inline CostLedger opened_ledger(const std::string& path) {
  Result<CostLedger> ledger = CostLedger::open(path);
  EXPECT_TRUE(ledger.ok()) << ledger.error().message;
  return std::move(ledger).value();
}

}  // namespace orrery
