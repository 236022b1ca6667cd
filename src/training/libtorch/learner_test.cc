#include "training/libtorch/learner.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace orrery {
namespace {

std::unique_ptr<Learner> learner(const std::string& model, const std::string& data,
                                 std::uint64_t seed = 1) {
  auto made = make_learner({.model = model, .data = data, .seed = seed});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return std::move(made).value();
}

// Plain gradient descent with batches of 32, always the same one on request; returns the mean
// loss of the last tenth.
double train(Learner& learner, int steps, float rate, bool one_batch = false) {
  std::vector<float> values(learner.parameters().begin(), learner.parameters().end());
  double tail = 0;
  const int tail_steps = steps / 10;
  for (int step = 0; step < steps; ++step) {
    const auto computed = learner.compute({.first = one_batch ? 0 : step * 32, .count = 32}, 1, {});
    EXPECT_TRUE(computed.ok()) << computed.error().message;
    const auto gradient = learner.gradient();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradient[i];
    EXPECT_TRUE(learner.set_parameters(values).ok());
    if (step >= steps - tail_steps) tail += computed.value().loss;
  }
  return tail / tail_steps;
}

TEST(Learner, AnMlpLearnsTheGaussianSet) {
  const auto subject = learner("mlp", "gaussian");
  const double before = subject->evaluate().value().accuracy;
  EXPECT_LT(train(*subject, 400, 0.2F), 1.0);
  EXPECT_GT(subject->evaluate().value().accuracy, before + 0.4);
}

TEST(Learner, AnMlpLearnsTheTeachersAnswers) {
  const auto subject = learner("mlp", "teacher");
  EXPECT_LT(train(*subject, 600, 0.4F), 1.2);
  EXPECT_GT(subject->evaluate().value().accuracy, 0.5);
}

struct Case {
  const char* model;
  const char* data;
  int steps;
  float rate;
  double left = 0.8;       // share of the first loss it must come below
  bool one_batch = false;  // for what would take minutes to learn more
};

class EveryModel : public testing::TestWithParam<Case> {};

TEST_P(EveryModel, LearnsAGeneratedSet) {
  const auto& [model, data, steps, rate, left, one_batch] = GetParam();
  const auto subject = learner(model, data);
  const double first = subject->compute({.first = 0, .count = 64}, 1, {}).value().loss;
  EXPECT_LT(train(*subject, steps, rate, one_batch), left * first);
}

// Along the gradient the loss must rise by |g|^2.
TEST_P(EveryModel, HasTheGradientThatDifferencesShow) {
  const auto subject = learner(GetParam().model, GetParam().data);
  const Samples samples{.first = 3, .count = 6};
  ASSERT_TRUE(subject->compute(samples, 1, {}).ok());
  const std::vector<float> at(subject->parameters().begin(), subject->parameters().end());
  const std::vector<float> gradient(subject->gradient().begin(), subject->gradient().end());
  double norm2 = 0;
  for (const float slope : gradient) norm2 += double{1} * slope * slope;
  ASSERT_GT(norm2, 0);
  const double step = 2e-3 / std::sqrt(norm2);
  const auto loss_at = [&](double along) {
    std::vector<float> there(at);
    for (std::size_t i = 0; i < at.size(); ++i) there[i] += static_cast<float>(along) * gradient[i];
    EXPECT_TRUE(subject->set_parameters(there).ok());
    return subject->compute(samples, 1, {}).value().loss;
  };
  EXPECT_NEAR((loss_at(step) - loss_at(-step)) / (2 * step) / norm2, 1, 0.03);
}

TEST_P(EveryModel, LaysItsTensorsOutWithoutGaps) {
  const auto subject = learner(GetParam().model, GetParam().data);
  std::int64_t next = 0;
  for (const TensorPlace& place : subject->tensors()) {
    EXPECT_EQ(place.first, next) << place.name;
    EXPECT_GT(place.count, 0) << place.name;
    next += place.count;
  }
  EXPECT_EQ(next, subject->parameter_count());
  EXPECT_EQ(subject->parameters().size(), static_cast<std::size_t>(next));
}

// cuDNN's order of one layer: else it gathers the weights in every call, with a warning.
TEST(Learner, AnLstmsWeightsAreOneRunAtTheBeginning) {
  const auto tensors = learner("lstm", "grammar")->tensors();
  ASSERT_GE(tensors.size(), 4U);
  const char* const order[] = {"lstm.weight_ih_l0", "lstm.weight_hh_l0", "lstm.bias_ih_l0",
                               "lstm.bias_hh_l0"};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(tensors[i].name, order[i]);
}

INSTANTIATE_TEST_SUITE_P(
    Learners, EveryModel,
    testing::Values(Case{"mlp", "gaussian", 100, 0.2F}, Case{"mlp", "teacher", 300, 0.4F},
                    Case{"lenet", "gaussian", 100, 0.05F}, Case{"cnn", "gaussian", 100, 0.1F},
                    Case{"cnn", "teacher", 300, 0.1F},
                    Case{"resnet20", "gaussian", 20, 0.1F, 0.95, true},
                    Case{"lstm", "grammar", 80, 2.0F}, Case{"transformer", "grammar", 60, 0.2F}),
    [](const auto& found) { return std::string(found.param.model) + "_" + found.param.data; });

// Another process is this program again, which runs this alone.
TEST(LearnerElsewhere, DISABLED_WritesItsFirstParameters) {
  const char* const file = std::getenv("ORRERY_TEST_FILE");
  ASSERT_NE(file, nullptr) << "Learner.FirstParametersAreTheSameInAnotherProcess sets it";
  std::ofstream out(file, std::ios::binary);
  for (const std::string model : {"cnn", "lstm"}) {
    const auto subject = learner(model, model == "cnn" ? "gaussian" : "grammar", 9);
    const auto values = subject->parameters();
    ASSERT_FALSE(values.empty()) << model;
    out.write(reinterpret_cast<const char*>(values.data()),
              static_cast<std::streamsize>(values.size_bytes()));
  }
  EXPECT_TRUE(out.flush().good()) << file << " could not be written";
}

TEST(Learner, FirstParametersAreTheSameInAnotherProcess) {
  std::vector<std::string> found;
  for (const char* name : {"one", "other"}) {
    const auto path = std::filesystem::temp_directory_path() /
                      (std::string("orrery-first-") + std::to_string(::getpid()) + name);
    ::setenv("ORRERY_TEST_FILE", path.c_str(), 1);
    std::string program = "/proc/self/exe", also = "--gtest_also_run_disabled_tests";
    std::string filter = "--gtest_filter=LearnerElsewhere.*";
    char* arguments[] = {program.data(), filter.data(), also.data(), nullptr};
    pid_t pid = 0;
    ASSERT_EQ(::posix_spawn(&pid, program.c_str(), nullptr, nullptr, arguments, environ), 0);
    int end = -1;
    ::waitpid(pid, &end, 0);
    EXPECT_EQ(end, 0);
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    found.push_back(bytes.str());
    std::filesystem::remove(path);
  }
  EXPECT_GT(found[0].size(), 100'000U);
  EXPECT_EQ(found[0], found[1]);
}

TEST(Learner, AnotherSeedBeginsElsewhere) {
  const auto one = learner("mlp", "gaussian", 1), other = learner("mlp", "gaussian", 2);
  EXPECT_FALSE(
      std::equal(one->parameters().begin(), one->parameters().end(), other->parameters().begin()));
}

TEST(Learner, EvaluatingDoesNotTouchTheGradient) {
  const auto subject = learner("mlp", "gaussian");
  ASSERT_TRUE(subject->compute({.first = 0, .count = 8}, 1, {}).ok());
  const std::vector<float> gradient(subject->gradient().begin(), subject->gradient().end());
  const Evaluation evaluation = subject->evaluate().value();
  EXPECT_EQ(evaluation.samples, subject->test_samples());
  EXPECT_TRUE(std::equal(gradient.begin(), gradient.end(), subject->gradient().begin()));
}

TEST(Learner, BlocksGiveTheMeanOfTheWhole) {
  const auto subject = learner("mlp", "gaussian");
  const auto whole = subject->compute({.first = 5, .count = 33}, 1, {}).value();
  const std::vector<float> gradient(subject->gradient().begin(), subject->gradient().end());
  const auto parts = subject->compute({.first = 5, .count = 33}, 4, [] { return true; }).value();
  EXPECT_EQ(parts.samples, 33);
  EXPECT_NEAR(parts.loss, whole.loss, 1e-5);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_NEAR(subject->gradient()[i], gradient[i], 1e-5);
  }
}

TEST(Learner, ATaskThatIsCutGivesTheMeanOfWhatWasDone) {
  const auto subject = learner("mlp", "gaussian");
  const auto half = subject->compute({.first = 0, .count = 16}, 1, {}).value();
  const std::vector<float> gradient(subject->gradient().begin(), subject->gradient().end());
  int asked = 0;
  const auto cut =
      subject->compute({.first = 0, .count = 32}, 4, [&] { return ++asked < 2; }).value();
  EXPECT_EQ(cut.samples, 16);
  EXPECT_NEAR(cut.loss, half.loss, 1e-5);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    ASSERT_NEAR(subject->gradient()[i], gradient[i], 1e-5);
  }
}

// The sum over what is trained on and what is held out is the sum over all.
TEST(Learner, WhatIsHeldOutIsNotTrainedOnAndNothingIsMissing) {
  const auto whole = learner("mlp", "gaussian");
  const auto part = make_learner({.held_out = 60}).value();
  const std::int64_t all = whole->training_samples();
  const std::int64_t held_out = part->held_out_samples();
  EXPECT_EQ(held_out, all / 60);
  ASSERT_EQ(part->training_samples() + held_out, all);
  EXPECT_EQ(part->test_samples(), whole->test_samples());
  const auto sum_of = [](const Learner& subject, const Result<Computed>& computed) {
    EXPECT_TRUE(computed.ok());
    std::vector<double> sum(subject.gradient().begin(), subject.gradient().end());
    for (double& value : sum) value *= computed.value().samples;
    return sum;
  };
  const auto epoch = [&](Learner& subject) {
    const auto count = static_cast<std::int32_t>(subject.training_samples());
    return sum_of(subject, subject.compute({.first = 0, .count = count}, 50, {}));
  };
  const auto total = epoch(*whole), trained = epoch(*part);
  const auto kept = static_cast<std::int32_t>(held_out);
  const auto judged = sum_of(*part, part->compute_held_out({.first = kept, .count = kept}));
  double off = 0, size = 0;
  for (std::size_t i = 0; i < total.size(); ++i) {
    off += std::abs(trained[i] + judged[i] - total[i]);
    size += std::abs(judged[i]);
  }
  EXPECT_LT(off, 0.01 * size);
}

TEST(Learner, ASampleIsHeldOutOfEverySetHoweverSmall) {
  const auto subject = make_learner({.held_out = 1'000'000'000}).value();
  EXPECT_EQ(subject->held_out_samples(), 1);
  EXPECT_TRUE(subject->compute_held_out({.first = 7, .count = 3}).ok());
}

TEST(Learner, WithoutHeldOutSamplesThereIsNoGradientOverThem) {
  EXPECT_FALSE(learner("mlp", "gaussian")->compute_held_out({.first = 0, .count = 1}).ok());
}

TEST(Learner, SaysWhatThereIs) {
  EXPECT_NE(make_learner({.model = "mpl"}).error().message.find("mlp"), std::string::npos);
  EXPECT_NE(make_learner({.data = "gausian"}).error().message.find("gaussian"), std::string::npos);
  EXPECT_NE(make_learner({.device = "tpu"}).error().message.find("cuda"), std::string::npos);
}

TEST(Learner, SaysWhatAModelReads) {
  const auto text = make_learner({.model = "cnn", .data = "grammar"});
  EXPECT_NE(text.error().message.find("does not read text"), std::string::npos);
  const auto points = make_learner({.model = "lstm", .data = "teacher"});
  EXPECT_NE(points.error().message.find("text:FILE"), std::string::npos);
}

TEST(Learner, RefusesParametersOfAnotherModel) {
  const auto subject = learner("mlp", "gaussian");
  EXPECT_FALSE(subject->set_parameters(std::vector<float>(3)).ok());
}

}  // namespace
}  // namespace orrery
