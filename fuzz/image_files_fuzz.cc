#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "training/libtorch/image_files.h"

using namespace orrery;

// Data files, whatever they hold: what is taken is as long as it says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const auto& run : {parse_idx_images(input), parse_json_images(input, 2, 3)}) {
    if (!run.ok()) continue;
    const ImageRun& images = run.value();
    INVARIANT(images.count > 0, "an image at least");
    INVARIANT(static_cast<std::int64_t>(images.pixels.size()) ==
                  images.count * images.rows * images.columns,
              "every pixel of every image");
  }
  if (const auto labels = parse_idx_labels(input, 10); labels.ok()) {
    for (const std::uint8_t label : labels.value()) INVARIANT(label < 10, "a label of a class");
  }
  return 0;
}
