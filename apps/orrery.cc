#include "commands/local_client/near.h"

int main(int argc, char** argv) {
  return orrery::run_near(argc, argv, [](char** words) { orrery::become("orrery-whole", words); });
}
