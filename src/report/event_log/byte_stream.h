#pragma once

#include <istream>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// Bytes into an OutputFile, compressed with zstd when its name ends in .zst. Without finish() no
// file is written.
class ByteWriter {
 public:
  virtual ~ByteWriter() = default;
  virtual Status write(std::string_view bytes) = 0;
  // Writes what is still buffered and puts the file in its place.
  virtual Status finish() = 0;

  static Result<std::unique_ptr<ByteWriter>> open(const std::string& path);
};

// Lines out of a file or stream, unpacked when the name ends in .zst.
class LogLines {
 public:
  virtual ~LogLines() = default;
  // False at the end. The line has no line end; a last line may lack one.
  Result<bool> next(std::string& line);

  static Result<std::unique_ptr<LogLines>> open(const std::string& path);
  // `name` decides about unpacking, as a path would. The stream outlives the reader.
  static std::unique_ptr<LogLines> from(std::istream& stream, const std::string& name);

 protected:
  // The next piece, valid until the next call; empty at the end.
  virtual Result<std::string_view> piece() = 0;

 private:
  std::string_view rest_;
  bool ended_ = false;
};

}  // namespace orrery
