// Any bytes as a provider file, of this machine and of Compute Engine: an error that names the
// file, or servers that can be asked for.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/invariant.h"
#include "cloud/provider_file/provider_file.h"

using namespace orrery;

namespace {

constexpr const char* kPrices = R"(date = "2026-11-01"
source = "fuzz"
[[offer]]
zones = ["a", "b"]
machine_type = "m"
gpu = "V100"
class = "spot"
usd_per_hour = 1.0
)";

// In memory where that is possible.
std::string folder() {
  std::string made = "/dev/shm/provider_file_fuzz.XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) made = std::filesystem::temp_directory_path().string();
  INVARIANT(write_file_atomically(made + "/p.toml", kPrices).ok(), "the price file is written");
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string where = folder();
  const std::string path = where + "/f.toml";
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  INVARIANT(write_file_atomically(path, text).ok(), "the file is written");
  for (const char* kind : {"local", "gce"}) {
    const auto file = read_provider_file(kind, path);
    if (!file.ok()) {
      INVARIANT(!file.error().message.empty(), "an error says what is wrong");
      continue;
    }
    INVARIANT(!file.value().offers.empty(), "some server can be asked for");
    INVARIANT(file.value().rules.servers_min <= file.value().rules.servers_max, "limits fit");
    INVARIANT(file.value().speed > 0, "time passes");
  }
  return 0;
}
