#pragma once

#include <vector>

#include "cloud/analysis/facts.h"
#include "cloud/analysis/rows.h"
#include "cloud/measurements/published_data.h"

namespace orrery {

// What the tables are made of. Everything outlives the calls below.
struct TableInputs {
  const PublishedData& data;
  const Rates& rates;
  const std::vector<ConfigFacts>& configs;
};

// Each adds the rows of the tables that it is named for; none where the data are missing.
void add_price_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_training_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_baseline_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_revocation_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_server_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_region_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_mixed_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_lifetime_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_rate_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_cm_dare_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_server_cap_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_prediction_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_server_cap_held_out_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_cm_dare_held_out_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);

// Beyond the published tables: survival with censored servers beside the raw shares, models with
// their held-out errors, intervals.
void add_survival_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);
void add_model_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows);

}  // namespace orrery
