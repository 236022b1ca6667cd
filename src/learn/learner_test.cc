#include "learn/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace orrery {
namespace {

std::unique_ptr<Learner> learner(const std::string& model, const std::string& data,
                                 std::uint64_t seed = 1) {
  auto made = make_learner({.model = model, .data = data, .seed = seed});
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message);
  return std::move(made).value();
}

// Plain gradient descent with batches of 32; gives back the mean loss of the last tenth.
double train(Learner& learner, int steps, float rate) {
  std::vector<float> values(learner.parameters().begin(), learner.parameters().end());
  double tail = 0;
  for (int step = 0; step < steps; ++step) {
    const auto computed = learner.compute({.first = step * 32, .count = 32}, 1, {});
    EXPECT_TRUE(computed.ok()) << computed.error().message;
    const auto gradient = learner.gradient();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradient[i];
    EXPECT_TRUE(learner.set_parameters(values).ok());
    if (step >= steps - steps / 10) tail += computed.value().loss;
  }
  return tail / (steps / 10);
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

TEST(Learner, SaysWhatThereIs) {
  EXPECT_NE(make_learner({.model = "mpl"}).error().message.find("mlp"), std::string::npos);
  EXPECT_NE(make_learner({.data = "gausian"}).error().message.find("gaussian"), std::string::npos);
  EXPECT_NE(make_learner({.device = "tpu"}).error().message.find("cuda"), std::string::npos);
}

TEST(Learner, RefusesParametersOfAnotherModel) {
  const auto subject = learner("mlp", "gaussian");
  EXPECT_FALSE(subject->set_parameters(std::vector<float>(3)).ok());
}

}  // namespace
}  // namespace orrery
