#include "live/store/mark.h"

#include <gtest/gtest.h>

#include <fstream>

#include "live/store/test_store.h"

namespace orrery {
namespace {

std::optional<MarkWord> read(const std::string& path) {
  const auto word = Mark::read(path);
  EXPECT_TRUE(word.ok()) << word.error().message;
  return word.ok() ? word.value() : std::nullopt;
}

void flip(const std::string& path, std::streamoff at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 0x10));
}

TEST(Mark, TheLastWordWrittenIsRead) {
  const TestFolder folder;
  EXPECT_EQ(read(folder.file("mark")), std::nullopt);
  Mark mark = std::move(Mark::open(folder.file("mark"))).value();
  EXPECT_EQ(read(folder.file("mark")), std::nullopt) << "an empty file says nothing";
  for (std::int64_t i = 1; i <= 5; ++i) {
    const MarkWord word{.sequence = i * 1'000'000'007,
                        .crc = static_cast<std::uint32_t>(0xfffffff0 + i),
                        .job = 2'147'483'647};
    ASSERT_TRUE(mark.write(word).ok());
    EXPECT_EQ(read(folder.file("mark")), word);
  }
}

TEST(Mark, OneDamagedPlaceLeavesTheOther) {
  const TestFolder folder;
  Mark mark = std::move(Mark::open(folder.file("mark"))).value();
  ASSERT_TRUE(mark.write({.sequence = 7}).ok());
  ASSERT_TRUE(mark.write({.sequence = 8}).ok());
  flip(folder.file("mark"), 64 + 13);
  EXPECT_EQ(read(folder.file("mark")), (MarkWord{.sequence = 7}));
  flip(folder.file("mark"), 13);
  EXPECT_FALSE(Mark::read(folder.file("mark")).ok()) << "what is damaged is not taken for nothing";
}

}  // namespace
}  // namespace orrery
