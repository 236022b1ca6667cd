// Any bytes as a published database: refused with the file's name, or rows that fit a ledger.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/files.h"
#include "cloud/ledger/ledger_import.h"

namespace {

std::string folder() {
  std::string name = "/tmp/orrery-fuzz-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  return name;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string own = folder();
  const std::string path = own + "/old.db";
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (!orrery::write_file_atomically(path, bytes).ok()) std::abort();
  ::unlink((own + "/new.db").c_str());
  ::unlink((own + "/new.db-wal").c_str());
  auto opened = orrery::CostLedger::open(own + "/new.db");
  if (!opened.ok()) std::abort();
  orrery::CostLedger ledger = std::move(opened).value();
  const auto imported = orrery::import_published(path, {.gpu = "K80"}, ledger);
  const auto rows = ledger.servers();
  if (!rows.ok()) std::abort();
  if (!imported.ok()) {
    if (imported.error().message.rfind(path, 0) != 0 || !rows.value().empty()) std::abort();
    return 0;
  }
  if (rows.value().size() != imported.value().servers) std::abort();
  return 0;
}
