#pragma once

#include <string>
#include <vector>

namespace orrery {

// The options of `orrery reproduce`. A system reads those that concern it.
struct ReproduceArguments {
  std::string system;
  std::string figure;  // empty: all
  std::string data;
  std::string reference;               // runs of the released code; empty: as far as built in
  std::string report;                  // the page to write; empty: none
  std::vector<std::string> semantics;  // empty: every one that the system is run in
  std::string out = "star-results";    // star: where results are kept
  std::string only;                    // star: runs whose name holds this text
  std::string trainer;                 // star: the program; empty: the one beside this
  int seeds = 3;                       // star
  bool json = false;
  bool quiet = false;
  int threads = 0;
};

}  // namespace orrery
