#include "training/libtorch/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace orrery {
namespace {

std::string big_endian_words(std::initializer_list<std::uint32_t> words) {
  std::string bytes;
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
  }
  return bytes;
}
std::string images(std::uint32_t count, std::uint32_t side = 4) {
  return big_endian_words({0x803, count, side, side}) + std::string(count * side * side, '\7');
}
std::string labels(std::uint32_t count, char label = 3) {
  return big_endian_words({0x801, count}) + std::string(count, label);
}

// A data folder with a small MNIST that is in order; tests break one file of it.
class DataFolder : public testing::Test {
 protected:
  DataFolder() {
    std::string made = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
    std::filesystem::create_directories(folder_ + "/mnist");
    write("mnist/train-images-idx3-ubyte", images(6));
    write("mnist/train-labels-idx1-ubyte", labels(6));
    write("mnist/t10k-images-idx3-ubyte", images(2));
    write("mnist/t10k-labels-idx1-ubyte", labels(2));
  }
  ~DataFolder() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  Result<Dataset> load(const std::string& name) const {
    return load_dataset({.name = name, .folder = folder_, .wanted = SampleKind::Images});
  }
  // The file is named, and what is wrong with it, and what to do.
  void expect_fault(const std::string& set, const std::string& file, const std::string& what) {
    const auto loaded = load(set);
    ASSERT_FALSE(loaded.ok()) << file << ": " << what;
    const std::string& message = loaded.error().message;
    EXPECT_NE(message.find(folder_ + "/" + file), std::string::npos) << message;
    EXPECT_NE(message.find(what), std::string::npos) << message;
    EXPECT_NE(message.find("make data"), std::string::npos) << message;
  }

  std::string folder_;
};

TEST_F(DataFolder, IdxFilesAreRead) {
  const Dataset set = load("mnist").value();
  EXPECT_EQ(set.shape, (std::vector<std::int64_t>{1, 4, 4}));
  EXPECT_EQ(set.train.count, 6);
  EXPECT_EQ(set.test.count, 2);
  EXPECT_EQ(set.train.labels, std::vector<std::uint8_t>(6, 3));
  EXPECT_EQ(set.train.bytes, std::vector<std::uint8_t>(96, 7));
  EXPECT_FLOAT_EQ(set.mean, 7);
}

TEST_F(DataFolder, ADamagedFileIsNamed) {
  const std::string file = "mnist/train-images-idx3-ubyte";
  write(file, images(6).substr(0, 60));
  expect_fault("mnist", file, "44 bytes behind its header");
  write(file, images(6) + "x");
  expect_fault("mnist", file, "97 bytes behind its header");
  write(file, images(6).substr(0, 9));
  expect_fault("mnist", file, "ends within its header");
  write(file, labels(6) + "12345678");
  expect_fault("mnist", file, "begins with 0x00000801");
  write(file, "\x1f\x8b" + images(6));
  expect_fault("mnist", file, "gunzip");
  write(file, big_endian_words({0x803, 0xffffffff, 0xffffffff, 0xffffffff}));
  expect_fault("mnist", file, "4294967295 images");
  std::filesystem::remove(folder_ + "/" + file);
  expect_fault("mnist", file, "No such file");
}

TEST_F(DataFolder, LabelsMustFit) {
  const std::string file = "mnist/t10k-labels-idx1-ubyte";
  write(file, labels(2, 10));
  expect_fault("mnist", file, "label 0 is 10");
  write(file, labels(3));
  expect_fault("mnist", file, "3 labels for 2 images");
}

TEST_F(DataFolder, JsonFilesAreReadClassByClass) {
  std::filesystem::create_directories(folder_ + "/fashion-mnist");
  std::string image = "[1";
  for (int i = 1; i < 784; ++i) image += ",2";
  image += "]";
  for (char label = '0'; label <= '9'; ++label) {
    std::string text = "{\"data\":[";
    for (int i = 0; i < 7; ++i) text += image + ",";
    write(std::string("fashion-mnist/") + label + ".json", text + "[]]}");
  }
  const Dataset set = load("fashion-mnist").value();
  EXPECT_EQ(set.train.count, 60);
  EXPECT_EQ(set.test.count, 10);
  EXPECT_EQ(set.train.labels[59], 9);
  EXPECT_EQ(set.train.bytes[784], 1);
  EXPECT_EQ(set.train.bytes[785], 2);
  for (const auto& [text, what] : std::vector<std::pair<std::string, std::string>>{
           {"{\"data\":[[1,2]]}", "image 0 has 2 pixels"},
           {"{\"data\":[[256]]}", "above 255"},
           {"{\"data\":[[-1]]}", "below 0"},
           {"{\"data\":[[1.5]]}", "a fraction"},
           {"{\"data\":[[[1]]]}", "array"},
           {"{\"data\":[", "no JSON from byte"},
           {"{\"data\":[[]]}", "no image"}}) {
    write("fashion-mnist/4.json", text);
    expect_fault("fashion-mnist", "fashion-mnist/4.json", what);
  }
}

TEST_F(DataFolder, TextIsCutIntoSamplesAndTheLastTenthIsForTheTest) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>('a' + i % 26);
  write("novel.txt", text);
  const Dataset set = load("text:novel.txt").value();
  EXPECT_EQ(set.classes, 26);
  EXPECT_EQ(set.train.count, 56);
  EXPECT_EQ(set.test.count, 6);
  EXPECT_EQ(set.train.bytes.size(), 56U * 32 + 1);
  EXPECT_EQ(set.train.bytes[27], 1);
  EXPECT_EQ(set.test.bytes.front(), (56 * 32 + 1) % 26);
  write("novel.txt", "short");
  EXPECT_NE(load("text:novel.txt").error().message.find("novel.txt"), std::string::npos);
  EXPECT_FALSE(load("text:missing.txt").ok());
}

TEST(GeneratedSets, TheSeedIsAllThatCounts) {
  const auto make = [](std::uint64_t seed) {
    return make_teacher_set(seed, SampleKind::Vectors).train.values;
  };
  EXPECT_EQ(make(1), make(1));
  EXPECT_NE(make(1), make(2));
  EXPECT_EQ(make_grammar_set(5).train.bytes, make_grammar_set(5).train.bytes);
  EXPECT_NE(make_grammar_set(5).train.bytes, make_grammar_set(6).train.bytes);
}

TEST(GeneratedSets, HoldEveryClass) {
  for (const Dataset& set :
       {make_gaussian_set(1, SampleKind::Vectors), make_teacher_set(1, SampleKind::Images)}) {
    const std::set<std::uint8_t> found(set.train.labels.begin(), set.train.labels.end());
    EXPECT_EQ(found.size(), 10U);
    EXPECT_EQ(*found.rbegin(), 9);
  }
}

TEST(Dataset, WithoutAFolderItSaysWhatToDo) {
  const auto set = load_dataset({.name = "mnist", .wanted = SampleKind::Images});
  for (const char* const advice : {"make data", "--data-folder"}) {
    EXPECT_NE(set.error().message.find(advice), std::string::npos) << set.error().message;
  }
}

}  // namespace
}  // namespace orrery
