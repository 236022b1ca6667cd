#pragma once

#include <ostream>
#include <span>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/result.h"

namespace orrery {

// A file that is written as a whole or not at all. The bytes go into a draft in the folder of the
// target; commit() puts the draft in the place of the target. Without commit() the destructor
// removes the draft and the target stays as it was.
//
// For a path that a user named (Kind::Named): a symbolic link is followed and its target replaced.
// A device, a pipe, /dev/stdout and /dev/fd/N are written to directly, so nothing is atomic there.
// So is an existing file in a folder that takes no new file. An existing file keeps its mode and
// owner; a new one gets the mode that the umask allows. Nothing is flushed against a loss of power.
//
// For a file of our own open_own() replaces the path itself, in the way that OwnFile says.
//
// Every error names the path and the cause.
class OutputFile {
 public:
  // NamedPrivate: as Named, but a new file has mode 0600. For what holds jobs' data.
  enum class Kind { Named, NamedPrivate };

  static Result<OutputFile> open(const std::string& path, Kind kind = Kind::Named);
  static Result<OutputFile> open_own(const std::string& path, OwnFile how = {});
  // True for the name of a file that a killed process leaves in the target's folder. Only file
  // systems without unnamed files have such.
  static bool is_draft(std::string_view name);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;
  ~OutputFile();

  Status write(std::string_view bytes);
  // Writes nothing after this. Call it once.
  Status commit();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  Status open_draft(mode_t mode);
  Status keep_attributes();
  Status give_name();
  Error error(int number) const;

  std::string path_;    // as named by the caller
  std::string target_;  // the file to replace; empty: the bytes go to it directly
  std::string draft_;   // empty: the draft has no name yet
  Fd fd_;
  OwnFile how_{};
};

// A whole file at once.
Status write_output(const std::string& path, std::string_view content,
                    OutputFile::Kind kind = OutputFile::Kind::Named);

// An OutputFile for code that writes to a stream.
class OutputStream final : public std::ostream {
 public:
  explicit OutputStream(OutputFile file);

  // Writes what is left and commits. The first error of any write is returned here.
  Status finish();

 private:
  class Buffer final : public std::streambuf {
   public:
    explicit Buffer(OutputFile file) : file_(std::move(file)) {}
    Status finish();

   private:
    int_type overflow(int_type letter) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    void drain();

    OutputFile file_;
    std::string pending_{};
    Status status_{};
  };

  Buffer buffer_;
};

// A file with the option that names it.
struct NamedFile {
  std::string option;  // "--report"
  std::string path;
};

// Fails if an output is one of the inputs or two outputs are one file, or if an output cannot be
// written. Files are compared by device and inode, so links do not hide them. An empty path is no
// file. Run it before long work.
Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs);

// The path names a device, a pipe or a socket, or a descriptor of this process.
bool is_special_file(const std::string& path);

}  // namespace orrery
