#include "cloud/ledger/ledger_rows.h"

#include <fmt/format.h>

#include <memory>

#include "cloud/ledger/utc_text.h"

namespace orrery {
namespace {

Error damaged(const std::string& path, std::string_view what) {
  return {Code::DataLoss, fmt::format("{}: a row holds {}, which no ledger writes", path, what)};
}

std::optional<double> real_or_nothing(const Statement& row, int column) {
  return row.is_nothing(column) ? std::nullopt : std::optional(row.real(column));
}

Status read_offer(const Statement& row, const std::string& path, Offer& offer) {
  offer.zone = row.bytes(2);
  offer.machine_type = row.bytes(7);
  offer.gpu = row.bytes(8);
  offer.gpus = static_cast<int>(row.number(9));
  const auto offer_class = offer_class_of(row.bytes(10));
  if (!offer_class) return damaged(path, fmt::format("the class '{}'", row.bytes(10)));
  offer.offer_class = *offer_class;
  offer.price_usd_per_hour = row.is_nothing(11) ? 0 : row.real(11) * 3600;
  return {};
}

Status read_times(const Statement& row, const std::string& path, Server& server) {
  TRY_ASSIGN(server.requested, read_time(row, 13, path));
  TRY_ASSIGN(server.running, read_time(row, 14, path));
  TRY_ASSIGN(server.noticed, read_time(row, 15, path));
  TRY_ASSIGN(server.deadline, read_time(row, 16, path));
  TRY_ASSIGN(server.ended, read_time(row, 17, path));
  return {};
}

}  // namespace

BoundRow& BoundRow::text(std::string_view text) {
  texts_.push_back(std::make_unique<std::string>(text));
  statement_.bind_text(++place_, *texts_.back());
  return *this;
}
BoundRow& BoundRow::number(std::int64_t number) {
  statement_.bind(++place_, number);
  return *this;
}
BoundRow& BoundRow::real(double number) {
  statement_.bind_real(++place_, number);
  return *this;
}
BoundRow& BoundRow::real(std::optional<double> number) {
  return number ? real(*number) : nothing();
}
BoundRow& BoundRow::time(Time time) { return time == kNever ? nothing() : text(utc_text(time)); }
BoundRow& BoundRow::nothing() {
  statement_.bind_nothing(++place_);
  return *this;
}

void bind_server(BoundRow& bound, const LedgerServer& row) {
  const Server& server = row.server;
  const Offer& offer = server.spec.offer;
  bound.text(server.spec.name).text(server.address).text(offer.zone).text(region_of(offer.zone));
  bound.text(server.spec.job).text(server.spec.role).number(server.spec.index);
  bound.text(offer.machine_type).text(offer.gpu).number(offer.gpus);
  bound.text(text_of(offer.offer_class)).real(row.usd_per_s).real(row.on_demand_usd_per_s);
  bound.time(server.requested).time(server.running).time(server.noticed).time(server.deadline);
  bound.time(server.ended).text(text_of(server.state)).text(text_of(server.end_reason));
  bound.text(row.end_detail);
}

Result<Time> read_time(const Statement& row, int column, const std::string& path) {
  if (row.is_nothing(column)) return kNever;
  const auto time = time_of_utc(row.bytes(column));
  if (!time) return damaged(path, fmt::format("the instant '{}'", row.bytes(column)));
  return *time;
}

Result<LedgerServer> read_server(const Statement& row, const std::string& path) {
  LedgerServer read;
  Server& server = read.server;
  server.spec.name = row.bytes(0);
  server.address = row.bytes(1);
  server.spec.job = row.bytes(4);
  server.spec.role = row.bytes(5);
  server.spec.index = static_cast<int>(row.number(6));
  TRY(read_offer(row, path, server.spec.offer));
  read.usd_per_s = real_or_nothing(row, 11);
  read.on_demand_usd_per_s = real_or_nothing(row, 12);
  TRY(read_times(row, path, server));
  const auto state = server_state_of(row.bytes(18));
  const auto reason = end_reason_of(row.bytes(19));
  if (!state) return damaged(path, fmt::format("the state '{}'", row.bytes(18)));
  if (!reason) return damaged(path, fmt::format("the end reason '{}'", row.bytes(19)));
  server.state = *state;
  server.end_reason = *reason;
  read.end_detail = row.bytes(20);
  read.billed_s = row.real(21);
  read.usd = row.real(22);
  return read;
}

}  // namespace orrery
