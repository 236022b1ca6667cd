#include "commands/local_client/local_client.h"

int main(int argc, char** argv) {
  return orrery::run_near(argc, argv, [](char** words) { orrery::become("orrery-whole", words); });
}
