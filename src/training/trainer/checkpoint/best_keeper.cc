#include "training/trainer/checkpoint/best_keeper.h"

#include <boost/asio/post.hpp>
#include <cmath>
#include <utility>

#include "base/invariant.h"

namespace orrery {

BestKeeper::BestKeeper(boost::asio::io_context& io, boost::asio::thread_pool& writer,
                       std::string folder, Written written, CheckpointGuard guard)
    : io_(io),
      writer_(writer),
      folder_(std::move(folder)),
      written_(std::move(written)),
      guard_(std::move(guard)) {}

void BestKeeper::recall() {
  const auto kept = read_checkpoint(best_checkpoint_path(folder_));
  if (kept.ok()) best_ = on_disk_ = kept.value().judged;
}

bool BestKeeper::improves(const EvaluatedVersion& judged) const {
  if (!std::isfinite(judged.accuracy)) return false;
  if (!best_ || judged.accuracy != best_->accuracy) {
    return !best_ || judged.accuracy > best_->accuracy;
  }
  return judged.loss < best_->loss;
}

void BestKeeper::keep(std::shared_ptr<Checkpoint> checkpoint) {
  INVARIANT(checkpoint->judged.has_value(), "the best is chosen by how it was judged");
  best_ = checkpoint->judged;
  if (folder_.empty()) return;
  if (writing_) {
    waiting_ = std::move(checkpoint);
  } else {
    write(checkpoint);
  }
}

void BestKeeper::write(const std::shared_ptr<Checkpoint>& checkpoint) {
  writing_ = true;
  boost::asio::post(writer_, [this, checkpoint] {
    auto status = std::make_shared<Status>(write_best_checkpoint(folder_, *checkpoint, guard_));
    boost::asio::post(io_, [this, status, checkpoint] {
      writing_ = false;
      if (status->ok()) on_disk_ = checkpoint->judged;
      if (auto next = std::exchange(waiting_, nullptr)) write(next);
      written_(*status);
    });
  });
}

}  // namespace orrery
