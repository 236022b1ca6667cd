#include "cli/main.h"

int main(int argc, char** argv) { return orrery::run(argc, argv); }
