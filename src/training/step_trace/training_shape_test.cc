#include "training/step_trace/training_shape.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::string shape_error(const std::string& text) {
  const auto shape = parse_training_shape("m.yaml", text);
  return shape.ok() ? "" : shape.error().message;
}

TEST(TrainingShape, ThePublishedKeysAreRead) {
  const auto shape = parse_training_shape(
      "m.yaml",
      "# a job\ntrial_name: 'AR'\nrun_id: 3\ndp_size: 4 # workers\ndsp_size: 1\npp_size: 2\r\n"
      "tp_size: 8\nvpp_size: 1\nworld_size: 64\n");
  ASSERT_TRUE(shape.ok()) << shape.error().message;
  EXPECT_EQ(shape.value().experiment, "AR");
  EXPECT_EQ(shape.value().run, 3);
  EXPECT_EQ(shape.value().workers, 4);
  EXPECT_EQ(shape.value().stages, 2);
  EXPECT_EQ(shape.value().tensor_parallel, 8);
  EXPECT_EQ(shape.value().world, 64);
}

TEST(TrainingShape, FaultsAreNamedWithTheirLine) {
  EXPECT_EQ(shape_error("dp_size: 4\npp_size: none\n"),
            "m.yaml:2: pp_size is 'none'; write a whole number from 1 to 10000");
  EXPECT_EQ(shape_error("dp_size: 4\ndp_size: 4\n"), "m.yaml:2: dp_size stands there twice");
  EXPECT_TRUE(shape_error("dp: 4\n").starts_with("m.yaml:1: unknown key 'dp'; the keys are"));
  EXPECT_EQ(shape_error("job:\n  dp_size: 4\n").substr(0, 31), "m.yaml:1: unknown key 'job'; th");
  EXPECT_EQ(shape_error("dp_size 4\n"), "m.yaml:1: is 'dp_size 4'; write `key: value`");
  EXPECT_EQ(shape_error("dp_size: 4\n"), "m.yaml: has no pp_size; write how many there are");
  EXPECT_EQ(shape_error("dp_size: 4\npp_size: 2\nworld_size: 9\n"),
            "m.yaml: world_size is 9, but dp_size x pp_size x tp_size x dsp_size is 8");
}

}  // namespace
}  // namespace orrery
