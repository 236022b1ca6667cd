#include "learn/dataset.h"

#include "learn/learner.h"

namespace orrery {

std::vector<std::string> learner_data() {
  return {"gaussian", "teacher", "grammar", "mnist", "fashion-mnist", "text:FILE"};
}

Result<Dataset> load_dataset(const DatasetOptions& options) {
  if (options.name == "gaussian") return make_gaussian_set(options.seed, options.wanted);
  if (options.name == "teacher") return make_teacher_set(options.seed, options.wanted);
  std::string names;
  for (const std::string& name : learner_data()) names += (names.empty() ? "" : ", ") + name;
  return invalid("no data '" + options.name + "'; there are: " + names);
}

}  // namespace orrery
