#include <fmt/format.h>

#include <memory>
#include <span>

#include "training/trainer/lease/head_place.h"
#include "training/trainer/transport/part.h"
#include "training/trainer/transport/setup.h"

namespace orrery {
namespace {

// Judges what it is sent, one after the other; the others do not wait for it.
class Evaluator {
 public:
  explicit Evaluator(const TrainPorts& ports) : ports_(ports) {}

  // Under one head. The model stays for the next one.
  Status run(const PartStart& start) {
    auto part = Part::connect(start, [this](MessageFrame& frame) { from_head(frame); });
    if (!part.ok()) return std::move(part).error();
    part_ = std::move(part).value();
    part_->run();
    return std::move(part_->end);
  }

 private:
  void from_head(MessageFrame& frame) {
    if (part_->common(frame)) return;
    if (frame.header.type == MessageType::Setup) return set_up(frame);
    if (!learner_) return part_->fail(invalid("an evaluator is set up first"));
    if (frame.header.type == MessageType::Evaluate) return evaluate(frame);
    if (frame.header.type == MessageType::Validate) return validate(frame);
    part_->fail(invalid("the head asked an evaluator for what it does not do"));
  }

  void set_up(MessageFrame& frame) {
    Text text;
    if (!take(*part_->head, frame, text)) return;
    auto setup = parse_setup(text.text);
    if (!setup.ok()) return part_->fail(setup.error());
    if (!learner_) {
      auto learner = ports_.make_learner(setup.value().learner);
      if (!learner.ok()) return part_->fail(learner.error());
      learner_ = std::move(learner).value();
      first_ = std::make_shared<std::vector<float>>(learner_->parameters().begin(),
                                                    learner_->parameters().end());
    }
    part_->limit({.floats = static_cast<std::uint64_t>(learner_->parameter_count())});
    part_->head->send(MessageType::Ready, 0,
                      ReadyMessage{.tensors = learner_->tensors(),
                                   .training_samples = learner_->training_samples()},
                      {.floats = {*first_}, .keep = first_, .sent = {}});
  }

  Result<EvaluatedMessage> judge(std::span<const float> parameters) {
    TRY(learner_->set_parameters(parameters));
    TRY_ASSIGN(const Evaluation evaluation, learner_->evaluate());
    return EvaluatedMessage{.evaluation = evaluation};
  }

  void evaluate(MessageFrame& frame) {
    auto judged = judge(frame.floats);
    part_->head->send(
        MessageType::Evaluated, frame.header.number,
        judged.ok() ? judged.value() : EvaluatedMessage{.error = judged.error().message});
  }

  Result<Computed> validation_gradient(std::span<const float> parameters, std::int32_t samples) {
    TRY(learner_->set_parameters(parameters));
    const std::int64_t first = validated_;
    validated_ += samples;
    return learner_->compute_held_out({.first = first, .count = samples});
  }

  void validate(MessageFrame& frame) {
    ValidateMessage message;
    if (!take(*part_->head, frame, message)) return;
    auto computed = validation_gradient(frame.floats, message.samples);
    if (!computed.ok()) return part_->fail(computed.error());
    const auto gradient = std::make_shared<std::vector<float>>(learner_->gradient().begin(),
                                                               learner_->gradient().end());
    part_->head->send(MessageType::Validation, frame.header.number, Nothing{},
                      {.floats = {*gradient}, .keep = gradient, .sent = {}});
  }

  const TrainPorts& ports_;
  std::unique_ptr<Part> part_{};
  std::unique_ptr<Learner> learner_{};
  std::shared_ptr<const std::vector<float>> first_{};
  std::int64_t validated_ = 0;
};

}  // namespace

Status run_evaluator(const PartStart& start, const TrainPorts& ports) {
  Evaluator evaluator(ports);
  return under_each_head(start, [&](const PartStart& once) { return evaluator.run(once); });
}

}  // namespace orrery
