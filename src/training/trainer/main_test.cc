#include <gtest/gtest.h>

#include "training/trainer/fake_learner.h"
#include "training/trainer/train_main.h"

// The tests' program is `orrery-train` as well, since a run starts its processes from the program
// that it is.
int main(int argc, char** argv) {
  const bool is_command = argc > 1 && argv[1][0] != '-';
  if (is_command) return orrery::train_main(argc, argv, orrery::fake_ports());
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
