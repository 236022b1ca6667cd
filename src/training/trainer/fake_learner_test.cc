#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "base/files.h"
#include "base/random.h"
#include "training/trainer/fake_learner.h"

namespace orrery {
namespace {

constexpr std::size_t kInputs = 12;
constexpr std::size_t kParameters = kInputs + 1;
constexpr std::size_t kUnused = 4096;  // of "wide"
constexpr int kFakeGpus = 4;

struct Mischief {
  std::string what{};
  std::int64_t at = -1;
};

Mischief parse_mischief(const std::string& data) {
  Mischief mischief;
  const auto colon = data.find(':');
  const auto sign = data.find('@');
  if (colon == std::string::npos || sign == std::string::npos) return mischief;
  mischief.what = data.substr(colon + 1, sign - colon - 1);
  std::from_chars(data.data() + sign + 1, data.data() + data.size(), mischief.at);
  return mischief;
}

std::string test_folder() {
  const char* const folder = getenv("ORRERY_TEST_FOLDER");
  return folder != nullptr ? folder : "/tmp";
}

// True for one process of the run, once. The file names the process.
bool first_to_do_it() {
  const std::string path = test_folder() + "/mischief";
  const Fd fd(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  return fd.ok() && write_file(fd, path, std::to_string(getpid())).ok();
}

pid_t process_of(const std::string& role) {
  std::ifstream table(test_folder() + "/processes.csv");
  std::string line;
  pid_t pid = 0;
  while (std::getline(table, line)) {
    std::array<char, 32> name{};
    double at = 0;
    int id = 0;
    int number = 0;
    if (std::sscanf(line.c_str(), "%lf,%31[^,],%d,%d", &at, name.data(), &id, &number) == 4 &&
        role == name.data()) {
      pid = number;
    }
  }
  return pid;
}

class FakeLearner final : public Learner {
 public:
  explicit FakeLearner(const LearnerOptions& options)
      : seed_(options.seed),
        device_(options.device == "cuda" ? fmt::format("cuda:{}", options.place % kFakeGpus)
                                         : options.device),
        held_out_(options.held_out),
        mischief_(parse_mischief(options.data)),
        parameters_(kParameters + (options.model == "wide" ? kUnused : 0)),
        gradient_(parameters_.size()) {
    Random random(seed_);
    for (float& value : parameters_) value = static_cast<float>(random.normal() * 0.1);
    tensors_ = {{.name = "a", .first = 0, .count = 4},
                {.name = "b", .first = 4, .count = 8},
                {.name = "bias", .first = 12, .count = 1}};
    if (options.model == "wide") {
      tensors_.push_back({.name = "unused", .first = kParameters, .count = kUnused});
    }
  }

  std::int64_t parameter_count() const override { return std::ssize(parameters_); }
  const std::vector<TensorPlace>& tensors() const override { return tensors_; }
  std::int64_t training_samples() const override { return 100000; }
  std::int64_t held_out_samples() const override { return held_out_ > 0 ? 100000 / held_out_ : 0; }
  std::int64_t test_samples() const override { return 256; }
  std::string device() const override { return device_; }
  std::span<const float> parameters() const override { return parameters_; }
  Status set_parameters(std::span<const float> values) override {
    parameters_.assign(values.begin(), values.end());
    return {};
  }

  Result<Computed> compute(Samples samples, int blocks,
                           const std::function<bool()>& go_on) override {
    std::ranges::fill(gradient_, 0.0F);
    Computed computed;
    double loss = 0;
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t end = samples.first + samples.count * (block + 1) / blocks;
      for (std::int64_t at = samples.first + computed.samples; at < end; ++at) {
        loss += add_sample(at, true);
        ++computed.samples;
      }
      if (block + 1 < blocks && !go_on()) break;
    }
    for (float& value : gradient_) value /= static_cast<float>(computed.samples);
    computed.loss = loss / computed.samples;
    misbehave(samples);
    return computed;
  }
  Result<Computed> compute_held_out(Samples samples) override {
    if (held_out_ == 0) return invalid("no samples were held out");
    std::ofstream(test_folder() + "/held-out") << "asked\n";
    std::ranges::fill(gradient_, 0.0F);
    Computed computed{.samples = samples.count};
    for (std::int64_t i = 0; i < samples.count; ++i) {
      computed.loss += add_sample(-1000 - samples.first - i, true) / samples.count;
    }
    for (float& value : gradient_) value /= static_cast<float>(samples.count);
    return computed;
  }
  std::span<const float> gradient() const override { return gradient_; }

  Result<Evaluation> evaluate() override {
    double loss = 0;
    int right = 0;
    for (int i = 0; i < 256; ++i) {
      const double one = add_sample(-1 - i, false);
      loss += one;
      right += one < 0.01;
    }
    return Evaluation{.accuracy = right / 256.0, .loss = loss / 256, .samples = 256};
  }

 private:
  double add_sample(std::int64_t at, bool learn) {
    Random random(seed_ * 1000003 + static_cast<std::uint64_t>(at));
    std::array<float, kParameters> inputs{};
    float truth = 0.5F;
    float guess = parameters_[kInputs];
    for (std::size_t i = 0; i < kInputs; ++i) {
      inputs[i] = static_cast<float>(random.normal());
      truth += inputs[i] * static_cast<float>(i % 3);
      guess += inputs[i] * parameters_[i];
    }
    inputs[kInputs] = 1;
    const float error = guess - truth;
    for (std::size_t i = 0; learn && i < kParameters; ++i) gradient_[i] += error * inputs[i];
    return 0.5 * static_cast<double>(error) * static_cast<double>(error);
  }

  void misbehave(Samples samples) {
    const bool here = mischief_.at >= samples.first && mischief_.at < samples.first + samples.count;
    if (!here || !first_to_do_it()) return;
    if (mischief_.what == "nan") gradient_[3] = std::numeric_limits<float>::quiet_NaN();
    if (mischief_.what == "die") kill(getpid(), SIGKILL);
    if (mischief_.what == "freeze") kill(getpid(), SIGSTOP);
    if (mischief_.what == "term") kill(getpid(), SIGTERM);
    if (mischief_.what == "kill-shard") kill(process_of("shard"), SIGKILL);
    if (mischief_.what == "kill-evaluator") kill(process_of("evaluator"), SIGKILL);
    if (mischief_.what == "kill-head") kill(getppid(), SIGKILL);
  }

  const std::uint64_t seed_;
  const std::string device_;
  const int held_out_;
  const Mischief mischief_;
  std::vector<TensorPlace> tensors_{};
  std::vector<float> parameters_, gradient_;
};

class MeanOfKind final : public ModeRegression {
 public:
  Status fit(std::span<const SelectorSample> samples) override {
    sums_.clear();
    for (const SelectorSample& sample : samples) {
      auto& [sum, count] = sums_[sample.features.kind];
      sum += sample.loss_drop;
      ++count;
    }
    return {};
  }
  double predict(const ModeFeatures& features) const override {
    const auto found = sums_.find(features.kind);
    return found == sums_.end() ? 0 : found->second.first / found->second.second;
  }

 private:
  std::map<double, std::pair<double, int>> sums_;
};

}  // namespace

Result<std::unique_ptr<Learner>> make_fake_learner(const LearnerOptions& options) {
  if (!options.data.starts_with("line")) return invalid("--data: there is line");
  return std::unique_ptr<Learner>(std::make_unique<FakeLearner>(options));
}

TrainPorts fake_ports() {
  return {.make_learner = make_fake_learner,
          .open_meeting_place = open_fake_meeting_place,
          .join_all_reduce = join_fake_all_reduce,
          .gpu_name = [](const std::string& device) { return device == "cpu" ? "" : device; },
          .models = [] { return std::vector<std::string>{"linear"}; },
          .data = [] { return std::vector<std::string>{"line"}; },
          .make_selector = [] { return std::make_unique<MeanOfKind>(); }};
}

}  // namespace orrery
