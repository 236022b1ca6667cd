#include "training/trainer/worker/worker_context.h"

namespace orrery {

std::vector<std::span<float>> IncomingParameters::overwrite(const ShardPlace* place) {
  version_ = -1;
  copy_.reset();
  return place != nullptr ? piece_of(std::span(values_), *place)
                          : std::vector<std::span<float>>{std::span(values_)};
}

std::shared_ptr<const std::vector<float>> IncomingParameters::copy() {
  if (!copy_) copy_ = std::make_shared<const std::vector<float>>(values_);
  return copy_;
}

Result<std::shared_ptr<Connection>> WorkerContext::connect(const std::string& address,
                                                           std::uint16_t port,
                                                           Connection::Handlers handlers,
                                                           std::uint64_t floats) {
  TRY_ASSIGN(auto connection, connect_to(part->io, address, port, part->transport));
  connection->send(MessageType::Hello, 0,
                   Hello{.role = PartRole::Worker, .id = part->transport->self, .pid = 0});
  connection->start(std::move(handlers), {.body = 4096, .floats = floats});
  return connection;
}

void WorkerContext::send_gradient(Connection& to, const Gradient& gradient,
                                  std::vector<std::span<const float>> values,
                                  std::shared_ptr<const void> keep) {
  ++sends_under_way;
  to.send(MessageType::Gradient, gradient.task, GradientMessage{gradient},
          {.floats = std::move(values), .keep = std::move(keep), .sent = [this] {
             --sends_under_way;
           }});
}

}  // namespace orrery
