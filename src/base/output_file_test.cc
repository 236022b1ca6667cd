#include "base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/test_folder.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  static std::string content(const std::string& path) { return read_file(path).value(); }
  static unsigned mode(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::lstat(path.c_str(), &found), 0);
    return found.st_mode;
  }

  const TestFolder folder_;
};

TEST_F(OutputFileTest, ANewFileGetsTheModeThatTheUmaskAllows) {
  const mode_t before = ::umask(0027);
  ASSERT_TRUE(write_output(path("a"), "text").ok());
  ::umask(before);
  EXPECT_EQ(content(path("a")), "text");
  EXPECT_EQ(mode(path("a")) & 07777, 0640U);
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, AnExistingFileIsReplacedAndKeepsItsMode) {
  ASSERT_TRUE(write_output(path("a"), "old").ok());
  ASSERT_EQ(::chmod(path("a").c_str(), 0604), 0);
  ASSERT_TRUE(write_output(path("a"), "new").ok());
  EXPECT_EQ(content(path("a")), "new");
  EXPECT_EQ(mode(path("a")) & 07777, 0604U);
}

TEST_F(OutputFileTest, AFileOfOurOwnHasItsModeWhateverTheUmaskIs) {
  for (const mode_t mask : {0U, 022U, 077U, 0277U, 0777U}) {
    for (const mode_t wanted : {0600U, 0644U}) {
      const mode_t before = ::umask(mask);
      const Status written =
          write_file_atomically(path("a"), "text", {.mode = wanted, .durable = wanted == 0600});
      ::umask(before);
      ASSERT_TRUE(written.ok()) << written.error().message;
      EXPECT_EQ(content(path("a")), "text");
      EXPECT_EQ(mode(path("a")) & 07777, wanted) << mask;
      EXPECT_EQ(files(), 1U);
    }
  }
}

TEST_F(OutputFileTest, AFileOfOurOwnReplacesALinkAndNotItsTarget) {
  ASSERT_TRUE(write_output(path("target"), "old").ok());
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file_atomically(path("link"), "new").ok());
  EXPECT_EQ(content(path("target")), "old");
  EXPECT_EQ(content(path("link")), "new");
  EXPECT_FALSE(fs::is_symlink(path("link")));
}

TEST_F(OutputFileTest, AnExclusiveFileReplacesNothing) {
  ASSERT_TRUE(write_file_atomically(path("a"), "first", {.exclusive = true}).ok());
  const Status second = write_file_atomically(path("a"), "second", {.exclusive = true});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, Code::AlreadyExists);
  EXPECT_EQ(content(path("a")), "first");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStaysAndNoDraftIsLeft) {
  ASSERT_TRUE(write_output(path("a"), "old").ok());
  {
    auto file = OutputFile::open(path("a"));
    ASSERT_TRUE(file.ok());
    OutputFile moved = std::move(file).value();
    ASSERT_TRUE(moved.write("half").ok());
    EXPECT_EQ(content(path("a")), "old");
  }
  EXPECT_EQ(content(path("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, TheTargetOfALinkIsReplacedAndTheLinkStays) {
  ASSERT_TRUE(write_output(path("target"), "old").ok());
  fs::create_symlink("target", path("link"));
  fs::create_symlink("link", path("link2"));
  ASSERT_TRUE(write_output(path("link2"), "new").ok());
  EXPECT_EQ(content(path("target")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")) && fs::is_symlink(path("link2")));
  EXPECT_FALSE(fs::is_symlink(path("target")));
}

TEST_F(OutputFileTest, ALinkToAnAbsentFileCreatesTheFile) {
  fs::create_symlink("absent", path("link"));
  ASSERT_TRUE(write_output(path("link"), "new").ok());
  EXPECT_EQ(content(path("absent")), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  fs::create_symlink("circle", path("circle"));
  EXPECT_FALSE(write_output(path("circle"), "new").ok());
}

TEST_F(OutputFileTest, ADeviceIsWrittenToAndStaysADevice) {
  if (::mknod(path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    GTEST_SKIP() << "making a device needs root";
  }
  ASSERT_TRUE(write_output(path("null"), "text").ok());
  EXPECT_TRUE(S_ISCHR(mode(path("null"))));
  EXPECT_EQ(files(), 1U);
}

TEST_F(OutputFileTest, APipeIsWrittenToAndStaysAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string read;
  {
    const std::jthread reader([&] { read = content(path("pipe")); });
    ASSERT_TRUE(write_output(path("pipe"), "text").ok());
  }
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(S_ISFIFO(mode(path("pipe"))));
}

TEST_F(OutputFileTest, ADescriptorOfThisProcessIsWrittenTo) {
  const Fd log(::open(path("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_file(log, path("log"), "before ").ok());
  ASSERT_TRUE(write_output("/dev/fd/" + std::to_string(log.get()), "text").ok());
  ASSERT_TRUE(write_file(log, path("log"), " after").ok());
  EXPECT_EQ(content(path("log")), "before text after");
}

TEST_F(OutputFileTest, ErrorsNameThePathAndTheCause) {
  const auto message = [](const std::string& path) {
    const Status written = write_output(path, "text");
    return written.ok() ? "no error" : written.error().message;
  };
  EXPECT_EQ(message("/dev/full"), "/dev/full: cannot be written: No space left on device");
  EXPECT_EQ(message(folder_.path()), folder_.path() + ": cannot be written: Is a directory");
  EXPECT_EQ(message(path("no/a")), path("no/a") +
                                       ": cannot be written: No such file or directory; is the "
                                       "folder there?");
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFileTest, AStreamGoesIntoTheFileWhole) {
  auto file = OutputFile::open(path("a"));
  ASSERT_TRUE(file.ok());
  OutputStream out(std::move(file).value());
  std::string expected;
  for (int i = 0; i < 30'000; ++i) {
    out << i << '\n';
    expected += std::to_string(i) + '\n';
  }
  EXPECT_FALSE(fs::exists(path("a")));
  ASSERT_TRUE(out.finish().ok());
  EXPECT_EQ(content(path("a")), expected);
}

TEST_F(OutputFileTest, AStreamKeepsTheFirstErrorForItsEnd) {
  auto file = OutputFile::open("/dev/full");
  ASSERT_TRUE(file.ok());
  OutputStream out(std::move(file).value());
  out << std::string(200'000, 'x');
  EXPECT_FALSE(out.good());
  EXPECT_FALSE(out.finish().ok());
}

TEST_F(OutputFileTest, AnOutputMayNotBeAnInputHoweverItIsNamed) {
  ASSERT_TRUE(write_output(path("trace"), "jobs").ok());
  fs::create_symlink("trace", path("soft"));
  fs::create_hard_link(path("trace"), path("hard"));
  const std::vector<NamedFile> inputs = {{"--profiles", ""}, {"--trace", path("trace")}};
  for (const char* name : {"trace", "soft", "hard", "../"}) {
    const std::string output =
        name == std::string("../")
            ? path("../") + fs::path(folder_.path()).filename().string() + "/trace"
            : path(name);
    const std::vector<NamedFile> outputs = {{"--report", output}};
    const Status checked = check_outputs(outputs, inputs);
    ASSERT_FALSE(checked.ok()) << name;
    EXPECT_EQ(checked.error().message,
              "--report " + output + ": --trace reads this file; name another one");
    EXPECT_EQ(checked.error().code, Code::InvalidArgument);
  }
  const std::vector<NamedFile> good = {{"--report", path("page")}, {"--events", ""}};
  EXPECT_TRUE(check_outputs(good, inputs).ok());
  EXPECT_EQ(content(path("trace")), "jobs");
  EXPECT_FALSE(fs::exists(path("page")));
}

TEST_F(OutputFileTest, TwoOutputsMayNotBeOneFile) {
  const std::vector<NamedFile> outputs = {{"--report", path("a")}, {"--events", path("./a")}};
  EXPECT_FALSE(check_outputs(outputs, {}).ok());
  const std::vector<NamedFile> null = {{"--report", "/dev/null"}, {"--events", "/dev/null"}};
  EXPECT_TRUE(check_outputs(null, {}).ok());
  const std::vector<NamedFile> absent = {{"--report", path("no/a")}};
  EXPECT_FALSE(check_outputs(absent, {}).ok());
}

}  // namespace
}  // namespace orrery
