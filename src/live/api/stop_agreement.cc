#include "live/api/stop_agreement.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {
namespace {

Time after(Time start, Duration patience) {
  return kNever - start < patience ? kNever : start + patience;
}

}  // namespace

StopAgreement::StopAgreement(int ranks, Time asked, StopPatience patience)
    : asked_(asked), patience_(patience) {
  INVARIANT(ranks > 0, "a job has at least one rank");
  ranks_.resize(static_cast<std::size_t>(ranks));
}

void StopAgreement::answer(int rank, std::int64_t iteration) {
  if (rank < 0 || rank >= static_cast<int>(ranks_.size())) return;
  auto& known = ranks_[static_cast<std::size_t>(rank)].answer;
  known = std::max(known.value_or(iteration), iteration);
}

void StopAgreement::cannot_answer(int rank) {
  if (rank < 0 || rank >= static_cast<int>(ranks_.size())) return;
  ranks_[static_cast<std::size_t>(rank)].unable = true;
}

void StopAgreement::left(int rank) {
  if (rank < 0 || rank >= static_cast<int>(ranks_.size())) return;
  ranks_[static_cast<std::size_t>(rank)].left = true;
}

StopAgreement::State StopAgreement::look(Time now) {
  if (all_left()) state_ = State::Over;
  if (state_ == State::Asking) {
    const bool able = !any_unable();
    if (able && all_answered()) {
      state_ = State::Agreed;
      agreed_ = now;
      for (const Rank& rank : ranks_) {
        if (!rank.left) iteration_ = std::max(iteration_, *rank.answer);
      }
    } else if (!able || now >= deadline()) {
      state_ = State::Terminate;
    }
  } else if (state_ == State::Agreed) {
    if (now >= deadline() || !std::ranges::all_of(ranks_, [this](const Rank& rank) {
          return rank.left || kept_by(rank);
        })) {
      state_ = State::Terminate;
    }
  }
  return state_;
}

Time StopAgreement::deadline() const {
  if (state_ == State::Asking) return after(asked_, patience_.answers);
  if (state_ == State::Agreed) return after(agreed_, patience_.leaving);
  return kNever;
}

std::vector<int> StopAgreement::missing() const {
  const bool agreed = agreed_ != kNever;
  std::vector<int> missing;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (!rank.left && (agreed || rank.unable || !rank.answer)) {
      missing.push_back(static_cast<int>(i));
    }
  }
  return missing;
}

bool StopAgreement::kept_by(const Rank& rank) const {
  return rank.answer && *rank.answer <= iteration_;
}

bool StopAgreement::any_unable() const {
  return std::ranges::any_of(ranks_, [](const Rank& rank) { return rank.unable && !rank.left; });
}

bool StopAgreement::all_left() const {
  return std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.left; });
}

bool StopAgreement::all_answered() const {
  return std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.left || rank.answer; });
}

}  // namespace orrery
