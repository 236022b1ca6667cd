#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "live/store/store.h"

namespace orrery {

// A folder of its own for each test, gone afterwards.
class TestFolder {
 public:
  explicit TestFolder(const std::string& parent = ::testing::TempDir()) {
    std::string name = parent + "orrery_store_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string file(const std::string& name = "log.db") const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline Record test_record(std::int64_t sequence, std::string body = "{}") {
  return {.sequence = sequence,
          .time = Time(Duration(sequence * 1000)),
          .kind = "submitted",
          .job = sequence % 3 == 0 ? kNoJobNumber : sequence,
          .body = std::move(body)};
}

inline std::vector<Record> test_records(std::int64_t from, std::int64_t through,
                                        const std::string& body = "{}") {
  std::vector<Record> records;
  for (std::int64_t i = from; i <= through; ++i) records.push_back(test_record(i, body));
  return records;
}

inline Store opened(const std::string& path, const StoreOptions& options = {}) {
  Result<Store> store = Store::open(path, options);
  EXPECT_TRUE(store.ok()) << store.error().message;
  return std::move(store).value();
}

inline std::vector<Record> all_records(Store& store) {
  std::vector<Record> records;
  const Status status = store.read(store.first(), [&](const Record& record) {
    records.push_back(record);
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.error().message;
  return records;
}

inline std::string why(const Status& status) { return status.ok() ? "" : status.error().message; }

}  // namespace orrery
