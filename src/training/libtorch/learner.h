#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "training/sync/task.h"

namespace orrery {

struct LearnerOptions {
  std::string model = "mlp";      // mlp, lenet, cnn, resnet20, lstm, transformer
  std::string data = "gaussian";  // gaussian, teacher, grammar (generated); mnist, fashion-mnist,
                                  // text:FILE
  std::string data_folder{};      // where `make data` puts things
  std::uint64_t seed = 1;
  std::string device = "cpu";  // or "cuda"
  int place = 0;               // among a run's processes: GPUs are assigned round robin
  int threads = 1;
  int held_out = 0;  // one training sample in this many is not trained on; 0: none
};

// One tensor's place in the flat parameters.
struct TensorPlace {
  std::string name{};
  std::int64_t first = 0;
  std::int64_t count = 0;
};

struct Evaluation {
  double accuracy = 0;  // of the next character for text
  double loss = 0;
  std::int64_t samples = 0;
};

struct Computed {
  std::int32_t samples = 0;  // fewer than asked for if it was stopped between blocks
  double loss = 0;           // mean
};

// A model and its data behind libtorch's wall: no header but this is seen outside, and none of
// torch's is in it. Parameters and gradients are one flat run of floats, in an order that is the
// same in every process. The same options give the same model, the same first parameters and the
// same order of samples everywhere.
//
// On a GPU the flat buffers live there; the spans are copies that are fetched and stored on demand.
class Learner {
 public:
  virtual ~Learner() = default;

  virtual std::int64_t parameter_count() const = 0;
  virtual const std::vector<TensorPlace>& tensors() const = 0;
  virtual std::int64_t training_samples() const = 0;
  virtual std::int64_t held_out_samples() const = 0;
  virtual std::int64_t test_samples() const = 0;
  virtual std::string device() const = 0;  // "cpu", or which GPU: "cuda:1"

  // The parameters, as they are and to be set. They begin as the seed says.
  virtual std::span<const float> parameters() const = 0;
  virtual Status set_parameters(std::span<const float> values) = 0;

  // The mean gradient over the samples at these positions, computed in `blocks` parts; `go_on` is
  // asked between parts. The gradient stays valid until the next call.
  virtual Result<Computed> compute(Samples samples, int blocks,
                                   const std::function<bool()>& go_on) = 0;
  // The same over samples that were held out. They have an order of their own, which starts again
  // when it is through. Fails if there are none.
  virtual Result<Computed> compute_held_out(Samples samples) = 0;
  virtual std::span<const float> gradient() const = 0;

  virtual Result<Evaluation> evaluate() = 0;  // on the whole test set
};

// Fails with what to do where a file is missing or damaged, or the device is not there.
Result<std::unique_ptr<Learner>> make_learner(const LearnerOptions& options);

// What can be asked for, for help texts and errors.
std::vector<std::string> learner_models();
std::vector<std::string> learner_data();

}  // namespace orrery
