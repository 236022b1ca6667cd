#include <cstdint>
#include <sstream>
#include <string_view>

#include "base/invariant.h"
#include "workload/clusters/worker_list.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; a worker that was read can be reached.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto workers = parse_workers("fuzz", in);
  if (!workers.ok()) {
    INVARIANT(workers.error().code == Code::InvalidArgument, workers.error().message.c_str());
    return 0;
  }
  INVARIANT(!workers.value().empty(), "a list that was read has a worker");
  for (const Worker& worker : workers.value()) {
    INVARIANT(!worker.address.empty() && worker.port > 0 && worker.port < 65536, "can be reached");
    INVARIANT(worker.first_gpu >= 0 && worker.first_cpu >= 0, "devices are numbered from 0");
  }
  return 0;
}
