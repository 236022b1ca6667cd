#include "training/trainer/worker/shard_links.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

}  // namespace

Status ShardLinks::connect(const PeersMessage& peers) {
  places_ = peers.places;
  if (places_.size() != peers.shards.size()) return invalid("shards without places");
  arrived_.assign(places_.size(), 0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto floats = static_cast<std::uint64_t>(places_[i].count());
    TRY_ASSIGN(
        auto shard,
        worker_.connect(peers.shards[i].first, peers.shards[i].second,
                        {.frame = [this, i](Connection&, MessageFrame& got) { piece_came(i, got); },
                         .closed = [this](Connection&, const Error& why) { closed(why); },
                         .place = [this, i, floats](
                                      const FrameHeader& header) -> std::vector<std::span<float>> {
                           if (header.floats != floats) return {};
                           return worker_.incoming.overwrite(&places_[i]);
                         }},
                        floats));
    shards_.push_back(std::move(shard));
  }
  return {};
}

void ShardLinks::piece_came(std::size_t shard, MessageFrame& frame) {
  if (frame.header.type != MessageType::Parameters || !frame.floats.empty()) {
    return worker_.part->fail(invalid("parameters of the wrong shape"));
  }
  arrived_[shard] = frame.header.number;
  parameters_came_();
}

bool ShardLinks::have_sent(std::int64_t task) const {
  return std::ranges::all_of(arrived_, [task](std::int64_t last) { return last == task; });
}

void ShardLinks::hand_in(const Gradient& gradient, std::span<const float> values,
                         const std::shared_ptr<const void>& keep) {
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    worker_.send_gradient(*shards_[i], gradient, piece_of(values, places_[i]), keep);
  }
  worker_.part->head->send(MessageType::GradientDone, gradient.task, GradientMessage{gradient});
}

// If a shard died, the head starts a new session and ends this process. If it does not, the fault
// is here.
void ShardLinks::closed(const Error& why) {
  if (worker_.part->over) return;
  lost_ = std::make_unique<boost::asio::steady_timer>(worker_.part->io, kPatience);
  lost_->async_wait([this, why](const boost::system::error_code& error) {
    if (!error) worker_.part->fail(Error(why).at("a shard is gone"));
  });
}

}  // namespace orrery
