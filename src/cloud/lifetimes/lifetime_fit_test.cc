#include "cloud/lifetimes/lifetime_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <vector>

#include "cloud/lifetimes/lifetime_table.h"

namespace orrery {
namespace {

using std::chrono::hours;

TEST(Fit, TheRateOfAnExponentialIsRevocationsOverHoursSeen) {
  const std::vector<LifetimeSample> samples = {
      {hours(2), true}, {hours(3), true}, {hours(5), false}};
  const auto fit = fit_exponential(samples);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().rate_per_h, 0.2, 1e-12);
  EXPECT_NEAR(fit.value().log_likelihood, 2 * std::log(0.2) - 2, 1e-12);
}

TEST(Fit, AWeibullIsFoundAgainInItsOwnCensoredSamples) {
  const Lifetime truth = Lifetime::weibull({0.7, 40}).with_limit(hours(24));
  Random random(11);
  std::vector<LifetimeSample> samples;
  for (int i = 0; i < 20'000; ++i) {
    const Duration age = truth.sample(random);
    samples.push_back({age, age < hours(24)});
  }
  const auto fit = fit_weibull(samples);
  ASSERT_TRUE(fit.ok());
  EXPECT_NEAR(fit.value().parameters.shape, 0.7, 0.02);
  EXPECT_NEAR(fit.value().parameters.scale_h, 40, 2);
}

TEST(Fit, NoOtherWeibullIsLikelier) {
  const std::vector<LifetimeSample> samples = {
      {hours(1), true}, {hours(4), true}, {hours(9), true}, {hours(24), false}, {hours(24), false}};
  const auto log_likelihood = [&](double shape, double scale_h) {
    double sum = 0;
    for (const LifetimeSample& sample : samples) {
      const double t = seconds(sample.age) / 3600 / scale_h;
      sum -= std::pow(t, shape);
      if (sample.revoked) sum += std::log(shape / scale_h) + (shape - 1) * std::log(t);
    }
    return sum;
  };
  const auto fit = fit_weibull(samples);
  ASSERT_TRUE(fit.ok());
  const auto [shape, scale_h] = fit.value().parameters;
  EXPECT_NEAR(fit.value().log_likelihood, log_likelihood(shape, scale_h), 1e-9);
  for (const double factor : {0.99, 1.01}) {
    EXPECT_LT(log_likelihood(shape * factor, scale_h), fit.value().log_likelihood);
    EXPECT_LT(log_likelihood(shape, scale_h * factor), fit.value().log_likelihood);
  }
}

TEST(Fit, SamplesThatDetermineNothingAreRefused) {
  const std::vector<LifetimeSample> alive = {{hours(24), false}};
  const std::vector<LifetimeSample> together = {{hours(2), true}, {hours(2), true}};
  EXPECT_FALSE(fit_exponential(alive).ok());
  EXPECT_FALSE(fit_weibull(alive).ok());
  EXPECT_FALSE(fit_weibull(together).ok());
  EXPECT_TRUE(fit_exponential(together).ok());
}

struct Published {
  const char* name;
  std::function<bool(const LifetimeRecord&)> chosen;
  std::size_t servers, revoked;
  double rate_per_h, shape, scale_h;
};

TEST(Fit, ThePublishedLifetimesGiveThePublishedParameters) {
  const std::string path = std::string(ORRERY_SHARED) + "/data/transient/lifetime/lifetime.csv";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "no published lifetimes at " << path << "; nothing was tested";
  }
  const auto records = read_lifetimes(path);
  ASSERT_TRUE(records.ok()) << records.error().message;
  const auto of = [](std::string gpu) {
    return [gpu](const LifetimeRecord& record) { return record.gpu == gpu; };
  };
  const Published all[] = {
      {"K80 2019", [](const auto& record) { return record.gpu == "K80" && record.year == 2019; },
       64, 20, 0.01615824306, 0.5795516204, 133.0073288},
      {"K80", of("K80"), 128, 44, 0.01822124316, 0.6010301304, 102.8770016},
      {"P100", of("P100"), 40, 8, 0.009625411085, 0.861075928, 133.2963476},
      {"V100", of("V100"), 48, 5, 0.00461361015, 0.6504107645, 716.0543887},
      {"CPU", of("CPU"), 348, 61, 0.008408230785, 0.5011258138, 628.6059626}};
  for (const Published& published : all) {
    std::vector<LifetimeSample> samples;
    for (const LifetimeRecord& record : records.value()) {
      if (published.chosen(record)) samples.push_back(sample_of(record));
    }
    const auto revoked = std::ranges::count(samples, true, &LifetimeSample::revoked);
    EXPECT_EQ(samples.size(), published.servers) << published.name;
    EXPECT_EQ(static_cast<std::size_t>(revoked), published.revoked) << published.name;
    const auto exponential = fit_exponential(samples);
    const auto weibull = fit_weibull(samples);
    ASSERT_TRUE(exponential.ok() && weibull.ok());
    EXPECT_NEAR(exponential.value().rate_per_h / published.rate_per_h, 1, 1e-9) << published.name;
    EXPECT_NEAR(weibull.value().parameters.shape / published.shape, 1, 1e-6) << published.name;
    EXPECT_NEAR(weibull.value().parameters.scale_h / published.scale_h, 1, 1e-6) << published.name;
  }
}

}  // namespace
}  // namespace orrery
