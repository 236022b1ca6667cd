#include "live/store/faulty_disk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

namespace orrery {

// What SQLite holds of an open file: this, and the system's own behind it.
struct FaultyFile {
  sqlite3_file base;  // first: SQLite knows no more
  FaultyDisk* disk;
  std::string* path;

  static FaultyFile& of(sqlite3_file* file) { return *reinterpret_cast<FaultyFile*>(file); }
  static sqlite3_file* real(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + sizeof(FaultyFile));
  }

  static int close(sqlite3_file* file) {
    delete of(file).path;
    return real(file)->pMethods->xClose(real(file));
  }
  static int read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
    if (of(file).disk->is_off()) return SQLITE_IOERR_READ;
    return real(file)->pMethods->xRead(real(file), bytes, size, offset);
  }
  static std::int64_t size_of(sqlite3_file* file) {
    sqlite3_int64 size = 0;
    real(file)->pMethods->xFileSize(real(file), &size);
    return size;
  }
  static void remember(sqlite3_file* file, std::int64_t offset, std::int64_t size) {
    FaultyDisk::Unsynced write{
        .path = *of(file).path, .offset = offset, .size = size, .file_size = size_of(file)};
    write.before.resize(
        static_cast<std::size_t>(std::clamp<std::int64_t>(write.file_size - offset, 0, size)));
    if (!write.before.empty()) {
      real(file)->pMethods->xRead(real(file), write.before.data(),
                                  static_cast<int>(write.before.size()), offset);
    }
    of(file).disk->note(std::move(write));
  }

  static int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    FaultyDisk& disk = *of(file).disk;
    const bool fails = disk.strikes(!disk.is_of_syncs());
    if (fails && disk.fault_ == Fault::FullDisk) return SQLITE_FULL;
    if (fails && disk.fault_ != Fault::ShortWrite) return SQLITE_IOERR_WRITE;
    const int written = fails ? size / 2 : size;
    remember(file, offset, written);
    const int answer = real(file)->pMethods->xWrite(real(file), bytes, written, offset);
    return fails ? SQLITE_IOERR_WRITE : answer;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    FaultyDisk& disk = *of(file).disk;
    if (disk.strikes(disk.fault_ == Fault::PowerCut)) return SQLITE_IOERR_TRUNCATE;
    disk.cut(*of(file).path, size);
    remember(file, size, std::max<std::int64_t>(size_of(file) - size, 0));
    return real(file)->pMethods->xTruncate(real(file), size);
  }
  static int sync(sqlite3_file* file, int) {
    FaultyDisk& disk = *of(file).disk;
    const bool fails = disk.strikes(disk.is_of_syncs() || disk.fault_ == Fault::PowerCut);
    if (!disk.is_off()) disk.synced(*of(file).path, fails);
    return fails ? SQLITE_IOERR_FSYNC : SQLITE_OK;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return real(file)->pMethods->xFileSize(real(file), size);
  }
  static int lock(sqlite3_file* file, int level) {
    return real(file)->pMethods->xLock(real(file), level);
  }
  static int unlock(sqlite3_file* file, int level) {
    return real(file)->pMethods->xUnlock(real(file), level);
  }
  static int check_lock(sqlite3_file* file, int* held) {
    return real(file)->pMethods->xCheckReservedLock(real(file), held);
  }
  // No file control: some of them write.
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file* file) {
    return real(file)->pMethods->xSectorSize(real(file));
  }
  static int characteristics(sqlite3_file* file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
  }
};

namespace {

// Version 1: without shared memory, which a store that is alone in its file does not use.
const sqlite3_io_methods kMethods{1,
                                  FaultyFile::close,
                                  FaultyFile::read,
                                  FaultyFile::write,
                                  FaultyFile::truncate,
                                  FaultyFile::sync,
                                  FaultyFile::file_size,
                                  FaultyFile::lock,
                                  FaultyFile::unlock,
                                  FaultyFile::check_lock,
                                  FaultyFile::control,
                                  FaultyFile::sector_size,
                                  FaultyFile::characteristics,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr,
                                  nullptr};

}  // namespace

FaultyDisk::FaultyDisk() : real_(sqlite3_vfs_find(nullptr)), name_("faulty") {
  // The functions that are kept do not look at the VFS they are given.
  vfs_ = *real_;
  vfs_.iVersion = 1;
  vfs_.szOsFile = real_->szOsFile + static_cast<int>(sizeof(FaultyFile));
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = open;
  vfs_.xDelete = remove;
  sqlite3_vfs_register(&vfs_, 0);
}

FaultyDisk::~FaultyDisk() { sqlite3_vfs_unregister(&vfs_); }

int FaultyDisk::open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                     int* given) {
  auto& disk = *static_cast<FaultyDisk*>(vfs->pAppData);
  file->pMethods = nullptr;
  if (disk.is_off()) return SQLITE_CANTOPEN;
  sqlite3_file* real = FaultyFile::real(file);
  const int answer = disk.real_->xOpen(disk.real_, path, real, flags, given);
  if (answer != SQLITE_OK) return answer;
  new (file) FaultyFile{{&kMethods}, &disk, new std::string(path == nullptr ? "" : path)};
  return SQLITE_OK;
}

int FaultyDisk::remove(sqlite3_vfs* vfs, const char* path, int) {
  auto& disk = *static_cast<FaultyDisk*>(vfs->pAppData);
  if (disk.strikes(disk.fault_ == Fault::PowerCut)) return SQLITE_IOERR_DELETE;
  std::erase_if(disk.unsynced_, [&](const Unsynced& write) { return write.path == path; });
  return disk.real_->xDelete(disk.real_, path, 0);
}

void FaultyDisk::plan(Fault fault, int at) {
  fault_ = fault;
  left_ = at;
  struck_ = false;
}

bool FaultyDisk::strikes(bool of_its_kind) {
  if (fault_ == Fault::None || !of_its_kind) return false;
  if (struck_) return fault_ >= Fault::DeadSyncs;
  struck_ = --left_ == 0;
  return struck_;
}

void FaultyDisk::note(Unsynced write) {
  if (write.path.empty()) return;
  // Bytes that are written again have another chance; what is on disk is still what was there
  // before the first time.
  for (Unsynced& earlier : unsynced_) {
    if (earlier.doomed && earlier.path == write.path && earlier.offset == write.offset &&
        earlier.size == write.size) {
      earlier.doomed = false;
      return;
    }
  }
  unsynced_.push_back(std::move(write));
}

void FaultyDisk::synced(const std::string& path, bool failed) {
  if (failed) {
    for (Unsynced& write : unsynced_) write.doomed = write.doomed || write.path == path;
  } else {
    std::erase_if(unsynced_,
                  [&](const Unsynced& write) { return write.path == path && !write.doomed; });
  }
}

void FaultyDisk::cut(const std::string& path, std::int64_t size) {
  std::erase_if(unsynced_, [&](const Unsynced& write) {
    return write.path == path && write.doomed && write.offset >= size;
  });
}

void FaultyDisk::lose_unsynced(Random& random) {
  for (auto write = unsynced_.rbegin(); write != unsynced_.rend(); ++write) {
    if (!std::filesystem::exists(write->path)) continue;
    if (!write->doomed && random.between(0, 1) == 0) continue;
    const auto size_now = static_cast<std::int64_t>(std::filesystem::file_size(write->path));
    std::string before = write->before;
    if (size_now > write->offset + write->size || write->file_size > write->offset + write->size) {
      before.resize(static_cast<std::size_t>(write->size));  // a hole, with later writes behind it
    }
    {
      std::fstream file(write->path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(write->offset);
      file << before;
    }
    if (size_now <= write->offset + write->size && write->file_size < size_now) {
      std::filesystem::resize_file(write->path, static_cast<std::uintmax_t>(write->file_size));
    }
  }
  unsynced_.clear();
}

}  // namespace orrery
