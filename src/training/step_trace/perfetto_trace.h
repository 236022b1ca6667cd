#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "training/step_trace/recorded_steps.h"
#include "training/step_trace/step_replay.h"

namespace orrery {

using TextSink = std::function<Status(std::string_view)>;

// Recorded steps as JSON that Perfetto and Chrome's tracing page read ("Trace Event Format"). A
// process for each worker, a thread for each stage and kind of stream. All steps follow each other
// as their own times say; `ideal`, the first step without slowness, is in processes of its own.
Status write_perfetto_trace(const RecordedSteps& recorded, const StepTimes& ideal,
                            const TextSink& out);

}  // namespace orrery
