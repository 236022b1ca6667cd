#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "base/files.h"
#include "base/invariant.h"
#include "cloud/measurements/cm_dare.h"
#include "cloud/measurements/server_table.h"
#include "cloud/measurements/table.h"
#include "cloud/measurements/training_setup.h"

using namespace orrery;

// The first byte chooses the reader, the others are its file. Whatever they are, they are read or
// refused.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view content(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Fd file(::memfd_create("measurements", MFD_CLOEXEC));
  INVARIANT(file.ok(), "memory can be had");
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  INVARIANT(write_file(file, path, content).ok(), "a file in memory can be written");
  switch (data[0] % 7) {
    case 0:
      (void)read_server_table(path);
      break;
    case 1:
      (void)read_cluster_status(path);
      break;
    case 2:
      (void)read_series(path);
      break;
    case 3:
      (void)read_step_times(path);
      break;
    case 4:
      (void)read_checkpoints(path);
      break;
    case 5:
      (void)read_startups(path);
      break;
    default:
      if (const auto setup = parse_setup(content); setup.ok()) {
        INVARIANT(setup.value().workers_total() >= 0, "numbers of workers are bounded");
      }
      (void)zone_without_prefix(content);
  }
  return 0;
}
