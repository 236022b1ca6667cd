#include <gtest/gtest.h>

#include "training/libtorch/all_reduce.h"
#include "training/libtorch/learner.h"
#include "training/trainer/train_main.h"

int main(int argc, char** argv) {
  const bool is_command = argc > 1 && argv[1][0] != '-';
  if (is_command) {
    return orrery::train_main(argc, argv,
                              {.make_learner = orrery::make_learner,
                               .open_meeting_place = orrery::open_meeting_place,
                               .join_all_reduce = orrery::join_all_reduce,
                               .gpu_name = orrery::gpu_name,
                               .models = orrery::learner_models,
                               .data = orrery::learner_data});
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
