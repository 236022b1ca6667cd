#include "cloud/analysis/analysis.h"

#include <fmt/format.h>

#include "cloud/analysis/tables.h"

namespace orrery {
namespace {

void add_inconsistency_rows(const std::vector<Inconsistency>& all, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const Inconsistency& one : all) {
    write.of(spoils_results(one) ? "inconsistent" : "remark",
             fmt::format("{}/{}", one.config, one.file));
    write.add_count(text_of(one.kind), static_cast<std::size_t>(one.line), {},
                    fmt::format("value=line; {}: {}; {}", one.run, one.fault, one.treatment));
  }
}

}  // namespace

Result<Analysis> analyse(const PublishedData& data, const PriceList& prices) {
  TRY_ASSIGN(const Rates rates, rates_of(prices));
  Analysis analysis{.configs = facts_of(data, rates), .rows = {}, .inconsistencies = {}};
  analysis.inconsistencies = find_inconsistencies(analysis.configs);
  const TableInputs inputs{data, rates, analysis.configs};
  // The order of the published table.
  add_price_rows(inputs, analysis.rows);
  add_training_rows(inputs, analysis.rows);
  add_baseline_rows(inputs, analysis.rows);
  add_revocation_rows(inputs, analysis.rows);
  add_server_rows(inputs, analysis.rows);
  add_region_rows(inputs, analysis.rows);
  add_mixed_rows(inputs, analysis.rows);
  add_lifetime_rows(inputs, analysis.rows);
  add_rate_rows(inputs, analysis.rows);
  add_cm_dare_rows(inputs, analysis.rows);
  add_server_cap_rows(inputs, analysis.rows);
  add_prediction_rows(inputs, analysis.rows);
  add_server_cap_held_out_rows(inputs, analysis.rows);
  add_cm_dare_held_out_rows(inputs, analysis.rows);

  add_survival_rows(inputs, analysis.rows);
  add_model_rows(inputs, analysis.rows);
  add_inconsistency_rows(analysis.inconsistencies, analysis.rows);
  return analysis;
}

}  // namespace orrery
