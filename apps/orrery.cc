#include "commands/local_client/local_client.h"

int main(int argc, char** argv) {
  return orrery::run_local_client(
      argc, argv, [](char** words) { orrery::exec_sibling("orrery-whole", words); });
}
