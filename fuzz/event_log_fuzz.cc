#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

#include "report/event_log/event_log_reader.h"
#include "report/metrics/metrics.h"

// Whatever the bytes are, reading ends with events or a message, and events that were accepted can
// be folded. The first byte decides whether the rest is taken for a compressed log.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::istringstream stream(std::string(reinterpret_cast<const char*>(data + 1), size - 1));
  auto opened = orrery::EventLogReader::from(stream, data[0] % 2 == 0 ? "log" : "log.zst");
  if (!opened.ok()) return 0;
  orrery::EventLogReader reader = std::move(opened).value();
  orrery::Metrics metrics(
      {.cluster = reader.cluster(), .workload = &reader.workload(), .window = {}});
  orrery::Event event;
  for (auto more = reader.next(event); more.ok() && more.value(); more = reader.next(event)) {
    metrics.write(event);
  }
  metrics.summary();
  return 0;
}
