#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "model/cluster.h"
#include "scheduling/placement/shape.h"

namespace orrery {

// For tests: seeded clusters in which every limit binds for some shape, and shapes to place.

inline const std::vector<std::string>& random_gpu_types() {
  static const std::vector<std::string> types = {"V100", "A100"};
  return types;
}

template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[static_cast<std::size_t>(
      random.between(0, static_cast<std::int64_t>(from.size()) - 1))];
}

inline Node random_node(Random& random, int gpus) {
  Node node;
  node.gpus = gpus;
  node.cpu_milli = gpus * random.between(1000, 8000);
  node.memory_bytes = gpus * random.between(4'000'000'000, 64'000'000'000);
  node.gpu_memory_bytes = pick<std::int64_t>(random, {0, 16'000'000'000, 40'000'000'000});
  node.gpu_type = pick<std::string>(random, {"", "V100", "A100"});
  return node;
}

// One to three switches of one to four nodes each. Half of the clusters have nodes of one kind.
inline Cluster random_cluster(Random& random) {
  Cluster cluster;
  const bool alike = random.uniform() < 0.5;
  const Node model = random_node(random, pick<int>(random, {1, 4, 8, 8}));
  const auto switches = random.between(1, 3);
  for (int s = 0; s < switches; ++s) {
    const auto nodes = random.between(1, 4);
    for (int n = 0; n < nodes; ++n) {
      Node node = alike ? model : random_node(random, static_cast<int>(random.between(1, 16)));
      node.name = "n" + std::to_string(cluster.nodes.size());
      node.switch_index = s;
      cluster.nodes.push_back(node);
    }
  }
  return cluster;
}

// NameIds of GPU types are indices of random_gpu_types().
inline Shape random_shape(Random& random) {
  Shape shape;
  shape.gpus = pick<int>(random, {1, 1, 1, 2, 2, 3, 4, 5, 8, 12, 16});
  if (random.uniform() < 0.5) shape.cpu_milli = shape.gpus * random.between(1, 5000) + 1;
  if (random.uniform() < 0.5) {
    shape.memory_bytes = shape.gpus * random.between(1, 30'000'000'000) + 1;
  }
  if (random.uniform() < 0.3) shape.gpu_memory_bytes = random.between(1, 30'000'000'000);
  if (random.uniform() < 0.25) shape.gpu_type = static_cast<NameId>(random.between(0, 1));
  return shape;
}

// How many of the shape's GPUs an idle node could hold, by trying each number.
inline int idle_gpus_fitting(const Node& node, const Shape& shape) {
  const bool wrong_type =
      shape.gpu_type != kNoName && !node.gpu_type.empty() &&
      node.gpu_type != random_gpu_types()[static_cast<std::size_t>(shape.gpu_type)];
  const bool small_memory = shape.gpu_memory_bytes > 0 && node.gpu_memory_bytes > 0 &&
                            shape.gpu_memory_bytes > node.gpu_memory_bytes;
  if (wrong_type || small_memory) return 0;
  int fitting = 0;
  for (int gpus = 1; gpus <= node.gpus && gpus <= shape.gpus; ++gpus) {
    if (share_of(shape.cpu_milli, gpus, shape.gpus) <= node.cpu_milli &&
        share_of(shape.memory_bytes, gpus, shape.gpus) <= node.memory_bytes) {
      fitting = gpus;
    }
  }
  return fitting;
}

// True if the shape fits the idle cluster at all, however scattered.
inline bool ever_fits(const Cluster& cluster, const Shape& shape) {
  int fitting = 0;
  for (const Node& node : cluster.nodes) fitting += idle_gpus_fitting(node, shape);
  return fitting >= shape.gpus;
}

}  // namespace orrery
