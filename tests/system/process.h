#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

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
  bool out_closed = false;         // its output is a pipe that nobody reads
  std::string interrupt_at{};      // text on standard error at which it is sent SIGINT
  std::string login{};             // who it runs as; needs root. Empty: as this process does
};

// Runs the built orrery to its end. One that takes longer than 30 s is killed, and has then ended
// by a signal. After interrupt_at, `took` counts from the interrupt.
Finished run_orrery(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// The words that run the built program; as another login with an environment of its own.
std::vector<std::string> orrery_words(const std::vector<std::string>& arguments,
                                      const std::string& login = "");

// A folder of its own that goes away with this.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }
  // Writes a file and answers its path.
  std::string write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

std::string file_text(const std::string& path);

}  // namespace orrery
