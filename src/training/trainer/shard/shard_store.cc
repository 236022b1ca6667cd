#include "training/trainer/shard/shard_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "training/trainer/shard/flat_math.h"
#include "training/trainer/transport/crc32c.h"

namespace orrery {

ShardStore::ShardStore(std::size_t parameters, const OptimizerOptions& optimizer)
    : parameters_(std::make_shared<std::vector<float>>(parameters)),
      optimizer_(optimizer, parameters),
      sum_(parameters) {}

std::vector<float>& ShardStore::writable() {
  if (parameters_.use_count() > 1) parameters_ = std::make_shared<std::vector<float>>(*parameters_);
  return *parameters_;
}

Status ShardStore::load(std::span<const float> values, double batches, ParameterVersion version) {
  const std::size_t count = sum_.size();
  const std::size_t state = optimizer_.state().size();
  if (values.size() != count && values.size() != count + state) {
    return invalid(
        fmt::format("{} numbers to load, where there are {} parameters and {} of the "
                    "optimiser",
                    values.size(), count, state));
  }
  std::ranges::copy(values.first(count), writable().begin());
  if (values.size() > count) std::ranges::copy(values.subspan(count), optimizer_.state().begin());
  optimizer_.set_batches(batches);
  version_ = version;
  pieces_.clear();
  return {};
}

PieceMessage ShardStore::keep(std::int64_t task, std::vector<float>& piece) {
  if (piece.size() != sum_.size()) {
    return {.fault =
                fmt::format("wrong shape: {} numbers instead of {}", piece.size(), sum_.size())};
  }
  PieceMessage facts{.norm2 = norm2(piece)};
  if (!std::isfinite(facts.norm2)) return {.fault = "not finite"};
  if (!validation_.empty()) {
    facts.dot_validation = dot(validation_, piece);
    facts.norm2_validation = validation_norm2_;
  }
  pieces_[task] = std::move(piece);
  return facts;
}

Status ShardStore::set_validation(std::vector<float> gradient) {
  if (gradient.size() != sum_.size()) return invalid("a validation gradient of the wrong shape");
  validation_ = std::move(gradient);
  validation_norm2_ = norm2(validation_);
  return {};
}

double ShardStore::add_terms(const ApplyMessage& message, bool mixed) {
  std::ranges::fill(sum_, 0.0F);
  if (mixed) fresh_sum_.assign(sum_.size(), 0.0F);
  double fresh_weight = 0;
  for (std::size_t i = 0; i < message.update.terms.size(); ++i) {
    const Term& term = message.update.terms[i];
    if (message.fresh[i] != 0) fresh_weight += term.weight;
    const auto piece = pieces_.find(term.task);
    if (piece == pieces_.end()) continue;
    add_weighted(sum_, term.weight, piece->second);
    if (mixed && message.fresh[i] != 0) add_weighted(fresh_sum_, term.weight, piece->second);
  }
  return fresh_weight;
}

void ShardStore::step(const Update& update) {
  optimizer_.step(writable(), sum_, update.rate, update.share);
  version_ = update.version;
  for (const Term& term : update.terms) pieces_.erase(term.task);
}

namespace {

Status follows(const ApplyMessage& message, ParameterVersion version) {
  if (message.update.version != version + 1 ||
      message.fresh.size() != message.update.terms.size()) {
    return invalid(
        fmt::format("update {} does not follow version {}", message.update.version, version));
  }
  if (message.update.share > 0 && std::isfinite(message.update.share)) return {};
  return invalid(
      fmt::format("update {} holds {} of a batch", message.update.version, message.update.share));
}

}  // namespace

Result<double> ShardStore::apply(const ApplyMessage& message) {
  TRY(follows(message, version_));
  for (const Term& term : message.update.terms) {
    if (!pieces_.contains(term.task)) {
      return invalid(fmt::format("update {} wants task {}, which is not here",
                                 message.update.version, term.task));
    }
  }
  const auto fresh = static_cast<std::size_t>(std::ranges::count(message.fresh, 1));
  const bool mixed = fresh > 1 && fresh < message.fresh.size();
  const double fresh_weight = add_terms(message, mixed);
  step(message.update);
  if (fresh < 2 || !(fresh_weight > 0)) return 0.0;
  return norm2(mixed ? fresh_sum_ : sum_) / (fresh_weight * fresh_weight);
}

Result<double> ShardStore::apply_in_ring(const ApplyMessage& message, const Sum& sum) {
  TRY(follows(message, version_));
  const double fresh_weight = add_terms(message, false);
  TRY(sum(sum_));
  step(message.update);
  const auto fresh = static_cast<std::size_t>(std::ranges::count(message.fresh, 1));
  const bool all = fresh > 1 && fresh == message.fresh.size() && fresh_weight > 0;
  return all ? norm2(sum_) / (fresh_weight * fresh_weight) : 0.0;
}

std::uint64_t ShardStore::hash() const { return crc64(std::as_bytes(std::span(*parameters_))); }

}  // namespace orrery
