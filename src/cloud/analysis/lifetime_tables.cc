#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/statistics.h"
#include "cloud/analysis/tables.h"
#include "cloud/lifetimes/lifetime_fit.h"

namespace orrery {
namespace {

struct Group {
  std::string name;  // as the published table spells it
  std::string gpu;
  int year = 0;  // 0: all
};
const Group kGroups[] = {{"K80 2019", "K80", 2019},   {"K80 2018", "K80", 2018},
                         {"K80 all", "K80", 0},       {"P100 2019", "P100", 2019},
                         {"V100 2019", "V100", 2019}, {"CPU(PS) 2018", "CPU", 2018}};
constexpr std::string_view kGpuOrder[] = {"K80", "P100", "V100", "CPU"};

using Records = std::vector<const LifetimeRecord*>;

Records chosen(const std::vector<LifetimeRecord>& records,
               const std::function<bool(const LifetimeRecord&)>& choose) {
  Records result;
  for (const LifetimeRecord& record : records) {
    if (choose(record)) result.push_back(&record);
  }
  return result;
}

Records of_group(const std::vector<LifetimeRecord>& records, const Group& group) {
  return chosen(records, [&](const LifetimeRecord& record) {
    return record.gpu == group.gpu && (group.year == 0 || record.year == group.year);
  });
}

std::size_t revoked_in(const Records& records) {
  return static_cast<std::size_t>(std::ranges::count(records, true, &LifetimeRecord::revoked));
}

double age_h(const LifetimeRecord& record) { return seconds(record.age) / 3600; }

double mean_age_h(const Records& records) {
  double sum = 0;
  for (const LifetimeRecord* record : records) sum += age_h(*record);
  return records.empty() ? 0 : sum / static_cast<double>(records.size());
}

std::vector<LifetimeSample> samples_of(const Records& records) {
  std::vector<LifetimeSample> samples;
  for (const LifetimeRecord* record : records) samples.push_back(sample_of(*record));
  return samples;
}

void add_group(const Group& group, const Records& records, RowWriter& write) {
  std::vector<double> revoked_h;
  for (const LifetimeRecord* record : records) {
    if (record->revoked) revoked_h.push_back(age_h(*record));
  }
  const auto n = static_cast<double>(records.size());
  write.of("lifetime", group.name);
  write.add_count("vms", records.size());
  write.add_count("revoked_before_24h", revoked_h.size());
  write.add("revoked_pct", 100 * static_cast<double>(revoked_h.size()) / n);
  write.add("mean_lifetime_h_capped24", mean_age_h(records), records.size());
  if (!revoked_h.empty()) {
    write.add("mean_time_to_revocation_h", spread_of(revoked_h).mean, revoked_h.size());
    write.add("median_time_to_revocation_h", median(revoked_h), revoked_h.size());
  }
  write.of("lifetime_cdf", group.name);
  for (int hour = 1; hour <= 24; ++hour) {
    const auto dead = std::ranges::count_if(revoked_h, [&](double age) { return age <= hour; });
    write.add(fmt::format("F({}h)", hour), static_cast<double>(dead) / n, records.size());
  }
  write.add("F(24h cap)", 1, records.size());
}

void add_zones(const std::vector<LifetimeRecord>& records, RowWriter& write) {
  for (const std::string_view gpu : {"K80", "P100", "V100"}) {
    std::map<std::string, Records> zones;
    for (const LifetimeRecord& record : records) {
      if (record.gpu == gpu) zones[record.zone].push_back(&record);
    }
    for (const auto& [zone, of_zone] : zones) {
      write.of("lifetime_zone", fmt::format("{} {}", gpu, zone));
      write.add_count("vms", of_zone.size());
      write.add_count("revoked_before_24h", revoked_in(of_zone));
      write.add("mean_lifetime_h_capped24", mean_age_h(of_zone));
    }
  }
}

void add_stress(const std::vector<LifetimeRecord>& records, RowWriter& write) {
  for (const std::string_view gpu : kGpuOrder) {
    for (const bool stressed : {false, true}) {
      const Records those = chosen(records, [&](const LifetimeRecord& record) {
        return record.gpu == gpu && record.stressed == stressed;
      });
      if (those.empty()) continue;
      write.of("lifetime_stress", fmt::format("{} {}", gpu, stressed ? "stressed" : "idle"));
      write.add_count("vms", those.size());
      write.add_count("revoked_before_24h", revoked_in(those));
    }
  }
}

void add_hours(const std::vector<LifetimeRecord>& records, RowWriter& write) {
  for (const std::string_view gpu : kGpuOrder) {
    std::array<int, 24> counts{};
    const Records those = chosen(
        records, [&](const LifetimeRecord& record) { return record.gpu == gpu && record.revoked; });
    if (those.empty()) continue;
    for (const LifetimeRecord* record : those) {
      counts[static_cast<std::size_t>(record->hour_ended)] += 1;
    }
    write.of("lifetime_hour_of_day", gpu)
        .add_text("counts_0_to_23", fmt::format("{}", fmt::join(counts, " ")), those.size(),
                  "local time as recorded");
  }
}

void add_fits(const Group& group, const Records& records, RowWriter& write) {
  const std::vector<LifetimeSample> samples = samples_of(records);
  write.of("lifetime_fit", group.name);
  if (const auto fit = fit_exponential(samples); fit.ok()) {
    write.add("exp_rate_per_h", fit.value().rate_per_h, records.size(),
              fmt::format("loglik={:.3f}", fit.value().log_likelihood));
  }
  if (const auto fit = fit_weibull(samples); fit.ok()) {
    write.add("weibull_shape", fit.value().parameters.shape, records.size(),
              fmt::format("loglik={:.3f}", fit.value().log_likelihood));
    write.add("weibull_scale_h", fit.value().parameters.scale_h, records.size());
  }
}

// The servers that trained on one GPU, as lifetimes: those that were not revoked were watched until
// their training ended.
std::vector<LifetimeSample> training_samples(const TableInputs& inputs, std::string_view config) {
  std::vector<LifetimeSample> samples;
  const ConfigFacts* found = find_config(inputs.configs, config);
  if (found == nullptr) return samples;
  for (const MeasuredServer& server : found->training->folder.servers) {
    if (server.uptime_s) samples.push_back({from_seconds(*server.uptime_s), was_revoked(server)});
  }
  return samples;
}

void add_curve(RowWriter& write, std::string_view config, std::span<const LifetimeSample> samples) {
  const std::vector<SurvivalStep> curve = kaplan_meier(samples);
  write.of("lifetime_km", config);
  for (int hour = 1; hour <= 24; ++hour) {
    const Duration age = std::chrono::hours(hour);
    const auto after = std::ranges::upper_bound(curve, age, {}, &SurvivalStep::age);
    const double deviation = after == curve.begin() ? 0 : std::prev(after)->deviation;
    write.add(fmt::format("F({}h)", hour), 1 - survival_at(curve, age), samples.size(),
              fmt::format("deviation={}", number_text(deviation)));
  }
}

}  // namespace

void add_lifetime_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  const std::vector<LifetimeRecord>& records = inputs.data.lifetimes;
  RowWriter write(rows);
  for (const Group& group : kGroups) {
    const Records of = of_group(records, group);
    if (!of.empty()) add_group(group, of, write);
  }
  add_zones(records, write);
  add_stress(records, write);
  add_hours(records, write);
  for (const Group& group : kGroups) {
    const Records of = of_group(records, group);
    if (!of.empty()) add_fits(group, of, write);
  }
}

void add_survival_rows(const TableInputs& inputs, std::vector<AnalysisRow>& rows) {
  RowWriter write(rows);
  for (const Group& group : kGroups) {
    const Records of = of_group(inputs.data.lifetimes, group);
    if (!of.empty()) add_curve(write, group.name, samples_of(of));
  }
  // The published curves of these two put servers in that were revoked while they trained, and left
  // out those that trained to the end. With them, censored, the curve is without that bias.
  for (const auto& [group, config] : {std::pair(kGroups[3], "p100_v100_spot/p100"),
                                      std::pair(kGroups[4], "p100_v100_spot/v100")}) {
    const std::vector<LifetimeSample> training = training_samples(inputs, config);
    std::vector<LifetimeSample> pooled = samples_of(of_group(inputs.data.lifetimes, group));
    if (training.empty() || pooled.empty()) continue;
    pooled.insert(pooled.end(), training.begin(), training.end());
    add_curve(write, group.gpu + " with training servers", pooled);
  }
}

}  // namespace orrery
