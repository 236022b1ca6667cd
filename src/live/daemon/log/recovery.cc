#include "live/daemon/log/recovery.h"

#include <fmt/format.h>

namespace orrery {

Result<Recovered> recover(const std::string& path, const CoreOptions& options,
                          const StoreOptions& how) {
  TRY_ASSIGN(Store store, Store::open(path, how));
  auto core = std::make_unique<Core>(options);
  TRY_ASSIGN(const Snapshot snapshot, store.latest_snapshot());
  std::vector<std::string> notes;
  for (const std::int64_t damaged : snapshot.damaged) {
    notes.push_back(fmt::format(
        "{}: the snapshot after record {} is damaged and was passed over; the log has all it held",
        path, damaged));
  }
  if (snapshot.sequence > 0) {
    TRY(core->restore(snapshot.bytes));
    // Not needed, but a fault of the disk should be known before it is.
    const Status before = store.read(
        store.first(), [](const Record&) { return Status(); },
        snapshot.sequence - store.first() + 1);
    if (!before.ok()) {
      notes.push_back(before.error().message + " (the snapshot after record " +
                      std::to_string(snapshot.sequence) + " holds what it said)");
    }
  }
  TRY(store.read(snapshot.sequence + 1,
                 [&](const Record& record) { return core->recover(record); }));
  return Recovered{.core = std::move(core), .store = std::move(store), .notes = std::move(notes)};
}

}  // namespace orrery
