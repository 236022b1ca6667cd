#include "training/twin/fit.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace orrery {
namespace {

constexpr const char* kData = ORRERY_SHARED "/data/sync-switch/";

TrainingCurve made(const ConvergenceModel& model, double staleness, double rate_falls_at) {
  TrainingCurve curve;
  for (double samples = 0; samples < 1e6; samples += 2e4) {
    const double rate = samples > rate_falls_at ? 0.1 : 1;
    const double effective = samples * model.worth(staleness);
    curve.push_back({.samples = samples,
                     .staleness = staleness,
                     .rate = rate,
                     .accuracy = model.accuracy(effective, staleness, rate),
                     .loss = model.loss(effective)});
  }
  return curve;
}

TEST(Fit, AModelIsFoundAgainInCurvesItHasMade) {
  const ConvergenceModel truth{.accuracy_first = 0.12,
                               .accuracy_last = 0.91,
                               .loss_first = 2.1,
                               .loss_last = 0.2,
                               .scale_samples = 50'000,
                               .power = 1.4,
                               .staleness_cost = 0.35,
                               .rate_cost = 0.03,
                               .plateau_cost = 0.004};
  const std::vector<TrainingCurve> curves = {made(truth, 0, 5e5), made(truth, 7, 5e5),
                                             made(truth, 1, 4e5)};
  const auto fit = fit_convergence(curves);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_LT(fit.value().accuracy_error, 0.002);
  EXPECT_LT(fit.value().loss_error, 0.02);
  const ConvergenceModel& found = fit.value().model;
  EXPECT_NEAR(found.staleness_cost, truth.staleness_cost, 0.05);
  EXPECT_NEAR(found.accuracy_last, truth.accuracy_last, 0.01);
  EXPECT_NEAR(found.plateau_cost, truth.plateau_cost, 0.001);
  EXPECT_NEAR(found.loss_last, truth.loss_last, 0.05);
  EXPECT_LT(accuracy_error(found, made(truth, 3, 5e5)), 0.005) << "a staleness it has not seen";
}

TEST(Fit, WhereStalenessDoesNotDifferItsCostIsLeftAlone) {
  const ConvergenceModel truth{.staleness_cost = 0.35};
  const std::vector<TrainingCurve> curves = {made(truth, 7, 5e5)};
  EXPECT_EQ(fit_convergence(curves, {.staleness_cost = 0.2}).value().model.staleness_cost, 0.2);
}

TEST(Fit, AFewPointsAreRefused) {
  const std::vector<TrainingCurve> curves = {TrainingCurve(3)};
  EXPECT_NE(fit_convergence(curves).error().message.find("too few"), std::string::npos);
}

// CIFAR-10, ResNet-32, eight workers of batch 128, 64000 gradients; the rate falls after half.
TrainingCurve sync_switch(const std::string& run, std::vector<CurvePhase> phases) {
  auto curve = read_step_curve(kData + ("cifar10_res32/" + run) + "/acc.csv",
                               {.phases = std::move(phases), .rate_falls_at = 32000.0 * 128});
  EXPECT_TRUE(curve.ok()) << curve.error().message;
  return curve.ok() ? std::move(curve).value() : TrainingCurve{};
}
const CurvePhase kBsp{.samples_per_step = 8 * 128}, kAsp{.samples_per_step = 128, .staleness = 7};

TEST(Fit, CurvesOfBspAndAspPredictThoseOfRunsThatSwitched) {
  if (!std::filesystem::exists(kData)) GTEST_SKIP() << "no data of Sync-Switch at " << kData;
  std::vector<TrainingCurve> curves;
  for (const char* const run : {"bsp_1", "bsp_2", "bsp_5", "bsp_6"}) {
    curves.push_back(sync_switch(std::string("baseline/") + run, {kBsp}));
  }
  for (const char* const run : {"asp_1", "asp_2", "asp_3", "asp_4"}) {
    curves.push_back(sync_switch(std::string("baseline/") + run, {kAsp}));
  }
  const auto fit = fit_convergence(curves);
  ASSERT_TRUE(fit.ok()) << fit.error().message;
  EXPECT_LT(fit.value().accuracy_error, 0.03);
  EXPECT_NEAR(fit.value().model.staleness_cost, 0.4, 0.1);
  for (const auto& [run, share] :
       std::vector<std::pair<const char*, double>>{{"b5-a95-run1", 0.05},
                                                   {"b10-a90-run1", 0.1},
                                                   {"b25-a75-run1", 0.25},
                                                   {"b50-a50-run2", 0.5},
                                                   {"b75-a25-run2", 0.75}}) {
    CurvePhase first = kBsp;
    first.until_step = share * 8000;
    const TrainingCurve hybrid = sync_switch(std::string("switch_exp/") + run, {first, kAsp});
    const double error = accuracy_error(fit.value().model, hybrid);
    EXPECT_LT(error, 0.05) << run;
  }
}

TEST(Curves, OurOwnAreReadByTheirHeader) {
  const auto curve = parse_training_curve(
      "time_s,mode,samples,accuracy,loss,staleness,rate\n0,ssgd,0,0.1,2.3,0,0.4\n"
      "1.5,\"dynamic-{7,1}\",1024,0.5,1.1,0.14,0.2\n",
      "curve.csv");
  ASSERT_TRUE(curve.ok()) << curve.error().message;
  ASSERT_EQ(curve.value().size(), 2u);
  EXPECT_EQ(curve.value()[1].samples, 1024);
  EXPECT_EQ(curve.value()[1].staleness, 0.14);
  EXPECT_EQ(curve.value()[1].rate, 0.5) << "of the first";
  EXPECT_EQ(curve.value()[1].loss, 1.1);
}

TEST(Curves, ARunsFolderGivesStalenessAndPace) {
  const std::string folder = testing::TempDir() + "twin-run-" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/curve.csv")
      << "time_s,version,samples,accuracy,loss\n1,2,128,0.3,2.0\n2,4,256,0.5,1.5\n";
  std::ofstream(folder + "/iterations.csv")
      << "time_s,worker,task,took_s,samples,staleness,loss\n0.5,0,1,0.32,32,0,2\n"
         "0.9,1,2,0.64,32,2,2\n1.5,0,3,0.32,32,1,2\n1.6,1,4,0.64,32,-1,2\n";
  const auto run = read_training_run(folder);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run.value().workers, 2);
  EXPECT_DOUBLE_EQ(run.value().per_sample_s, 0.01) << "of the faster one";
  EXPECT_EQ(run.value().curve[0].staleness, 1);
  EXPECT_EQ(run.value().curve[1].staleness, 1) << "what was not used does not count";
}

TEST(Curves, FaultsSayWhereTheyAre) {
  const auto refused = [](const std::string& text) {
    const auto curve = parse_training_curve(text, "c.csv");
    return curve.ok() ? std::string("read") : curve.error().message;
  };
  EXPECT_NE(refused("time_s,accuracy\n1,0.5\n").find("c.csv:1: the header"), std::string::npos);
  EXPECT_NE(refused("samples,accuracy\n1,0.5\n2,50\n").find("c.csv:3: "), std::string::npos);
  EXPECT_NE(refused("samples,accuracy\n2,0.5\n1,0.5\n").find("ascend"), std::string::npos);
  EXPECT_NE(refused("").find("no rows"), std::string::npos);
}

}  // namespace
}  // namespace orrery
