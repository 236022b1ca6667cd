#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_folder.h"

namespace orrery {

// What a finished program left behind.
struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
  std::chrono::duration<double> took{};
};

struct ProcessOptions {
  std::filesystem::path folder{};  // where it runs; empty: here
  std::string out_file{};          // where its output goes instead; it is opened for writing
  bool out_closed = false;         // its output is a pipe without a reader
  std::string interrupt_at{};      // text on standard error at which it is sent SIGINT
  std::string login{};             // the user it runs as; needs root. Empty: as this process does
};

// Runs the built orrery to its end. One that takes longer than 30 s is killed, and has then ended
// by a signal. After interrupt_at, `took` counts from the interrupt.
Finished run_orrery(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// The words that run the built program; as another login with an environment of its own.
std::vector<std::string> orrery_words(const std::vector<std::string>& arguments,
                                      const std::string& login = "");

std::string file_text(const std::string& path);

}  // namespace orrery
