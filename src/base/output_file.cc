#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <optional>

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // as the kernel
constexpr std::size_t kBuffer = std::size_t{64} << 10;

std::optional<struct stat> stat_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  return found;
}

// The descriptor that such a path stands for. The path is not opened: a second description of a
// regular file would have an offset of its own, and the two would overwrite each other.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view number = path.substr(folder.size());
    int fd = -1;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), fd);
    if (read.ec == std::errc() && read.ptr == number.data() + number.size()) return fd;
  }
  return std::nullopt;
}

// Follows links in the last part of the path; the target may be absent.
Result<std::string> followed(const std::string& path) {
  std::string target = path;
  for (int links = 0; links < kLinksMax; ++links) {
    char next[PATH_MAX];
    const ssize_t size = ::readlink(target.c_str(), next, sizeof next);
    if (size < 0 && (errno == EINVAL || errno == ENOENT)) return target;
    if (size < 0) return system_error(path + ": cannot be written", errno);
    const std::string_view found(next, static_cast<std::size_t>(size));
    target = found.starts_with('/') ? std::string(found)
                                    : target.substr(0, target.rfind('/') + 1).append(found);
  }
  return system_error(path + ": cannot be written", ELOOP);
}

std::string folder_of(const std::string& target) {
  const std::size_t slash = target.rfind('/');
  if (slash == std::string::npos) return ".";
  return target.substr(0, std::max<std::size_t>(slash, 1));
}

std::string descriptor_path(const Fd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

// A name that no other draft has, of this process or another one.
std::string draft_name(const std::string& target) {
  static std::atomic<unsigned> count = 0;
  return folder_of(target) + "/.orrery-" + std::to_string(::getpid()) + "-" +
         std::to_string(++count) + ".part";
}

// Where the one file is, whether it is there or not.
bool is_same_file(const std::string& a, const std::string& b) {
  const auto found_a = stat_of(a);
  const auto found_b = stat_of(b);
  if (found_a && found_b) {
    if (S_ISCHR(found_a->st_mode)) return false;  // /dev/null and terminals
    return found_a->st_dev == found_b->st_dev && found_a->st_ino == found_b->st_ino;
  }
  if (found_a || found_b) return false;
  std::error_code problem;
  return fs::weakly_canonical(a, problem) == fs::weakly_canonical(b, problem);
}

}  // namespace

Error OutputFile::error(int number) const {
  Error error = system_error(path_ + ": cannot be written", number);
  if (number == ENOENT) error.message += "; is the folder there?";
  return error;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      draft_(std::exchange(other.draft_, {})),
      fd_(std::move(other.fd_)),
      how_(other.how_) {}

bool OutputFile::is_draft(std::string_view name) {
  return name.starts_with(".orrery-") && name.ends_with(".part");
}

OutputFile::~OutputFile() {
  if (!draft_.empty()) ::unlink(draft_.c_str());
}

Result<OutputFile> OutputFile::open_own(const std::string& path, OwnFile how) {
  OutputFile file(path);
  file.target_ = path;
  file.how_ = how;
  TRY(file.open_draft(0600));
  if (::fchmod(file.fd_.get(), how.mode) != 0) return file.error(errno);
  return file;
}

Result<OutputFile> OutputFile::open(const std::string& path, Kind kind) {
  OutputFile file(path);
  if (const auto fd = descriptor_of(path)) {
    file.fd_ = Fd(::fcntl(*fd, F_DUPFD_CLOEXEC, 0));
    if (!file.fd_.ok()) return file.error(errno);
    return file;
  }
  const auto found = stat_of(path);
  if (found && S_ISDIR(found->st_mode)) return file.error(EISDIR);
  if (found && !S_ISREG(found->st_mode)) {
    file.fd_ = Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.fd_.ok()) return file.error(errno);
    return file;
  }
  // A rename would replace a file that the user may not write to.
  if (found && ::access(path.c_str(), W_OK) != 0) return file.error(errno);
  TRY_ASSIGN(file.target_, followed(path));
  const mode_t mode = kind == Kind::Named ? 0666 : 0600;
  if (Status opened = file.open_draft(mode); !opened.ok()) {
    if (!found || opened.error().code != Code::FailedPrecondition) return std::move(opened).error();
    file.target_.clear();
    file.fd_ = Fd(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    if (!file.fd_.ok()) return file.error(errno);
    return file;
  }
  if (found) TRY(file.keep_attributes());
  return file;
}

// A draft without a name leaves nothing behind, however the process ends. Not every file system
// has such drafts.
Status OutputFile::open_draft(mode_t mode) {
  fd_ = Fd(::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (fd_.ok() && ::access(descriptor_path(fd_).c_str(), F_OK) == 0) return {};
  draft_ = draft_name(target_);
  fd_ = Fd(::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (fd_.ok()) return {};
  const int number = errno;
  draft_.clear();
  return error(number);
}

Status OutputFile::keep_attributes() {
  struct stat old {};
  struct stat fresh {};
  if (::stat(target_.c_str(), &old) != 0) return {};
  if (::fstat(fd_.get(), &fresh) != 0) return error(errno);
  // Only root may give files away; for others the file becomes theirs.
  if (old.st_uid != fresh.st_uid || old.st_gid != fresh.st_gid) {
    static_cast<void>(::fchown(fd_.get(), old.st_uid, old.st_gid) == 0);
  }
  if (::fchmod(fd_.get(), old.st_mode & 07777) != 0) return error(errno);
  return {};
}

Status OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return error(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status OutputFile::give_name() {
  if (draft_.empty()) {
    const std::string name = how_.exclusive ? target_ : draft_name(target_);
    if (::linkat(AT_FDCWD, descriptor_path(fd_).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) != 0) {
      return error(errno);
    }
    if (how_.exclusive) return {};
    draft_ = name;
  }
  if (how_.exclusive) {
    // The destructor removes the name of the draft.
    if (::link(draft_.c_str(), target_.c_str()) != 0) return error(errno);
    return {};
  }
  if (std::rename(draft_.c_str(), target_.c_str()) != 0) return error(errno);
  draft_.clear();
  return {};
}

Status OutputFile::commit() {
  if (how_.durable && ::fsync(fd_.get()) != 0) return error(errno);
  if (!target_.empty()) TRY(give_name());
  fd_.close();
  if (!how_.durable) return {};
  const Fd folder(::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.ok() || ::fsync(folder.get()) != 0) return error(errno);
  return {};
}

Status write_output(const std::string& path, std::string_view content, OutputFile::Kind kind) {
  TRY_ASSIGN(OutputFile file, OutputFile::open(path, kind));
  TRY(file.write(content));
  return file.commit();
}

OutputStream::OutputStream(OutputFile file) : std::ostream(nullptr), buffer_(std::move(file)) {
  rdbuf(&buffer_);
}

Status OutputStream::finish() { return buffer_.finish(); }

OutputStream::Buffer::int_type OutputStream::Buffer::overflow(int_type letter) {
  if (letter == traits_type::eof()) return 0;
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

std::streamsize OutputStream::Buffer::xsputn(const char* text, std::streamsize size) {
  if (!status_.ok()) return 0;
  pending_.append(text, static_cast<std::size_t>(size));
  if (pending_.size() >= kBuffer) drain();
  return status_.ok() ? size : 0;
}

void OutputStream::Buffer::drain() {
  status_ = file_.write(pending_);
  pending_.clear();
}

Status OutputStream::Buffer::finish() {
  if (status_.ok()) drain();
  TRY(Status(status_));
  return file_.commit();
}

bool is_special_file(const std::string& path) {
  if (descriptor_of(path)) return true;
  const auto found = stat_of(path);
  return found && !S_ISREG(found->st_mode) && !S_ISDIR(found->st_mode);
}

Status check_outputs(std::span<const NamedFile> outputs, std::span<const NamedFile> inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    if (output.path.empty()) continue;
    const std::string place = output.option + " " + output.path;
    for (const NamedFile& input : inputs) {
      if (input.path.empty() || !is_same_file(output.path, input.path)) continue;
      return invalid(place + ": " + input.option + " reads this file; name another one");
    }
    for (const NamedFile& other : outputs.first(i)) {
      if (other.path.empty() || !is_same_file(output.path, other.path)) continue;
      return invalid(place + ": " + other.option + " writes this file; name another one");
    }
    // Opening a pipe waits for its reader.
    if (is_special_file(output.path)) continue;
    TRY_ASSIGN(const OutputFile probe, OutputFile::open(output.path));
  }
  return {};
}

}  // namespace orrery
