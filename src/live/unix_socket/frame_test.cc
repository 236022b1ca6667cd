#include "live/unix_socket/frame.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace orrery {
namespace {

std::string framed(std::uint8_t word, std::string_view body) {
  std::string bytes = open_frame(word);
  bytes += body;
  close_frame(bytes);
  return bytes;
}

TEST(FrameReader, PutsFramesTogetherFromPiecesOfAnySize) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Frame> sent;
    std::string bytes;
    for (int i = 0; i < 5; ++i) {
      sent.push_back({.word = static_cast<std::uint8_t>(random.between(0, 255)),
                      .body = std::string(static_cast<std::size_t>(random.between(0, 700)), 'b')});
      bytes += framed(sent.back().word, sent.back().body);
    }
    FrameReader reader(700);
    std::vector<Frame> read;
    for (std::string_view left = bytes; !left.empty();) {
      const auto piece = std::min(left.size(), static_cast<std::size_t>(random.between(1, 900)));
      reader.take(left.substr(0, piece));
      left.remove_prefix(piece);
      while (true) {
        auto next = reader.next();
        ASSERT_TRUE(next.ok()) << next.error().message;
        if (!next.value()) break;
        read.push_back(*next.value());
      }
    }
    EXPECT_EQ(read, sent);
    EXPECT_FALSE(reader.midway());
  }
}

TEST(FrameReader, KnowsWhenItIsMidway) {
  FrameReader reader(10);
  reader.take(std::string_view("\x02\0", 2));
  ASSERT_TRUE(reader.next().ok());
  EXPECT_TRUE(reader.midway());
}

TEST(FrameReader, RefusesWhatIsTooLongBeforeItHasCome) {
  FrameReader reader(10);
  reader.take(framed(1, std::string(11, 'x')).substr(0, 4));
  const auto next = reader.next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::ResourceExhausted);
  FrameReader largest(10);
  largest.take("\xff\xff\xff\xff");
  EXPECT_EQ(largest.next().error().code, Code::ResourceExhausted);
}

TEST(FrameReader, RefusesAFrameWithoutAWord) {
  FrameReader reader(10);
  reader.take(std::string_view("\0\0\0\0", 4));
  const auto next = reader.next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().code, Code::InvalidArgument);
}

}  // namespace
}  // namespace orrery
