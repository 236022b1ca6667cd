#pragma once

#include <string>
#include <string_view>

#include "base/database/database.h"
#include "cloud/ledger/cost_ledger.h"

namespace orrery {

// Binds the places of a statement one after the other. Texts are copied, and live as long as this.
class BoundRow {
 public:
  explicit BoundRow(Statement& statement) : statement_(statement) {}

  BoundRow& text(std::string_view text);
  BoundRow& number(std::int64_t number);
  BoundRow& real(double number);
  BoundRow& real(std::optional<double> number);
  BoundRow& time(Time time);  // kNever is nothing
  BoundRow& nothing();

 private:
  Statement& statement_;
  std::vector<std::unique_ptr<std::string>> texts_{};
  int place_ = 0;
};

// The columns of `servers` in their order.
void bind_server(BoundRow& bound, const LedgerServer& row);

// A row of this question is read by read_server(). It takes a WHERE.
inline constexpr std::string_view kServerQuestion =
    "SELECT servers.*,costs.seconds,costs.usd FROM servers "
    "LEFT JOIN costs ON costs.server=servers.host_name";
// DataLoss: a column holds what no ledger writes. `path` is for the message.
Result<LedgerServer> read_server(const Statement& row, const std::string& path);
Result<Time> read_time(const Statement& row, int column, const std::string& path);

}  // namespace orrery
