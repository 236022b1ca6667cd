#include "training/trainer/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/files.h"
#include "base/output_file.h"
#include "training/trainer/checkpoint/checkpoint_text.h"
#include "training/trainer/transport/crc32c.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ORRCKPT1";
constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kSuffix = ".orc";

struct Preamble {
  char magic[8] = {};
  std::uint64_t text_bytes = 0;
  std::uint64_t parameters = 0;
  std::uint64_t optimizer_floats = 0;
};

Status read_all(const Fd& fd, const std::string& path, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = read(fd.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(path, errno);
    if (got == 0) return Error{Code::DataLoss, "the file ends too early"}.at(path);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

Status sync_folder(const std::string& folder) {
  const Fd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.ok() || fsync(fd.get()) != 0) return system_error(folder, errno);
  return {};
}

std::optional<ParameterVersion> version_of(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  const char* const end = name.data() + name.size() - kSuffix.size();
  ParameterVersion version = 0;
  const auto read = std::from_chars(name.data() + kPrefix.size(), end, version);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return version;
}

// By version, newest last.
std::map<ParameterVersion, std::string> checkpoints_in(const std::string& folder) {
  std::map<ParameterVersion, std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const auto version = version_of(entry.path().filename().string());
    if (version) found[*version] = entry.path().string();
  }
  return found;
}

// Adam in checkpoints of earlier versions has two moments. The first is the nearest to the recent
// slope, which is forgotten within a batch.
void add_recent_slope(Checkpoint& checkpoint) {
  auto& state = checkpoint.optimizer_state;
  const std::size_t count = checkpoint.parameters.size();
  if (checkpoint.optimizer != "adam" || state.size() != 2 * count) return;
  state.reserve(3 * count);
  state.insert(state.end(), state.begin(), state.begin() + static_cast<std::ptrdiff_t>(count));
}

Status write_file(const std::string& path, const Checkpoint& checkpoint,
                  const CheckpointGuard& guard = {}) {
  const std::string text = checkpoint_text(checkpoint);
  Preamble preamble{.text_bytes = text.size(),
                    .parameters = checkpoint.parameters.size(),
                    .optimizer_floats = checkpoint.optimizer_state.size()};
  std::memcpy(preamble.magic, kMagic.data(), kMagic.size());
  const std::span<const std::byte> parts[] = {std::as_bytes(std::span(&preamble, 1)),
                                              std::as_bytes(std::span(text)),
                                              std::as_bytes(std::span(checkpoint.parameters)),
                                              std::as_bytes(std::span(checkpoint.optimizer_state))};
  TRY_ASSIGN(OutputFile file, OutputFile::open_own(path, {.durable = true}));
  std::uint64_t crc = 0;
  for (const auto part : parts) {
    crc = crc64(part, crc);
    TRY(file.write({reinterpret_cast<const char*>(part.data()), part.size()}));
  }
  TRY(file.write({reinterpret_cast<const char*>(&crc), sizeof crc}));
  return guard ? guard([&file] { return file.commit(); }) : file.commit();
}

std::string path_of(const std::string& folder, std::string_view prefix, ParameterVersion version) {
  return fmt::format("{}/{}{:012}{}", folder, prefix, version, kSuffix);
}

}  // namespace

Status write_checkpoint(const std::string& folder, const Checkpoint& checkpoint, int keep,
                        const CheckpointGuard& guard) {
  TRY(write_file(path_of(folder, kPrefix, checkpoint.conductor.version), checkpoint, guard));
  auto found = checkpoints_in(folder);
  while (found.size() > static_cast<std::size_t>(std::max(keep, 1))) {
    unlink(found.begin()->second.c_str());
    found.erase(found.begin());
  }
  return {};
}

std::string best_checkpoint_path(const std::string& folder) {
  return fmt::format("{}/{}best{}", folder, kPrefix, kSuffix);
}

Status write_best_checkpoint(const std::string& folder, const Checkpoint& checkpoint,
                             const CheckpointGuard& guard) {
  return write_file(best_checkpoint_path(folder), checkpoint, guard);
}

Status begin_at_best(const std::string& folder) {
  constexpr std::string_view kNewer = "set-aside-";
  TRY_ASSIGN(const Checkpoint best, read_checkpoint(best_checkpoint_path(folder)));
  const ParameterVersion version = best.conductor.version;
  const auto found = checkpoints_in(folder);
  if (!found.contains(version)) {
    TRY(write_file(path_of(folder, kPrefix, version), best));
  }
  for (auto newer = found.upper_bound(version); newer != found.end(); ++newer) {
    const std::string renamed = path_of(folder, kNewer, newer->first);
    if (rename(newer->second.c_str(), renamed.c_str()) != 0) return system_error(renamed, errno);
  }
  return sync_folder(folder);
}

void remove_drafts(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (OutputFile::is_draft(name)) unlink(entry.path().c_str());
  }
}

Result<Checkpoint> read_checkpoint(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.ok()) return system_error(path, errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return system_error(path, errno);
  const auto damaged = [&path](const char* what) { return Error{Code::DataLoss, what}.at(path); };
  Preamble preamble;
  TRY(read_all(fd, path, std::as_writable_bytes(std::span(&preamble, 1))));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (std::string_view(preamble.magic, 8) != kMagic) return damaged("not a checkpoint");
  // Each is compared alone first, since the sum of damaged numbers might be small.
  if (preamble.text_bytes > size || preamble.parameters > size ||
      preamble.optimizer_floats > size ||
      sizeof preamble + preamble.text_bytes +
              sizeof(float) * (preamble.parameters + preamble.optimizer_floats) +
              sizeof(std::uint64_t) !=
          size) {
    return damaged("its length does not fit what it says");
  }
  std::string text(preamble.text_bytes, '\0');
  TRY(read_all(fd, path, std::as_writable_bytes(std::span(text))));
  std::vector<float> parameters(preamble.parameters);
  TRY(read_all(fd, path, std::as_writable_bytes(std::span(parameters))));
  std::vector<float> state(preamble.optimizer_floats);
  TRY(read_all(fd, path, std::as_writable_bytes(std::span(state))));
  std::uint64_t written = 0;
  TRY(read_all(fd, path, std::as_writable_bytes(std::span(&written, 1))));
  std::uint64_t crc = crc64(std::as_bytes(std::span(&preamble, 1)));
  crc = crc64(std::as_bytes(std::span(text)), crc);
  crc = crc64(std::as_bytes(std::span(parameters)), crc);
  crc = crc64(std::as_bytes(std::span(state)), crc);
  if (crc != written) return damaged("its check sum is wrong");
  auto checkpoint = parse_checkpoint_text(text);
  if (!checkpoint.ok()) return std::move(checkpoint).error().at(path);
  Checkpoint whole = std::move(checkpoint).value();
  whole.parameters = std::move(parameters);
  whole.optimizer_state = std::move(state);
  add_recent_slope(whole);
  return whole;
}

Result<FoundCheckpoint> newest_checkpoint(const std::string& folder) {
  FoundCheckpoint result;
  const auto found = checkpoints_in(folder);
  for (auto at = found.rbegin(); at != found.rend(); ++at) {
    auto checkpoint = read_checkpoint(at->second);
    if (checkpoint.ok()) {
      result.path = at->second;
      result.checkpoint = std::move(checkpoint).value();
      return result;
    }
    result.damaged.push_back(checkpoint.error().message);
  }
  std::string message = "no checkpoint to go on from";
  for (const std::string& why : result.damaged) message += "; " + why;
  return Error{result.damaged.empty() ? Code::NotFound : Code::DataLoss, message}.at(folder);
}

}  // namespace orrery
