#include "training/trainer/transport/wire.h"

#include <gtest/gtest.h>

#include <string_view>

#include "training/trainer/transport/crc32c.h"
#include "training/trainer/transport/messages.h"
#include "training/trainer/transport/token_bucket.h"

namespace orrery {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc, IsTheKnownOneWithAndWithoutTheInstruction) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc32c_by_table(bytes_of("123456789")), 0xE3069283U);
  EXPECT_EQ(crc64(bytes_of("123456789")), 0x995DC9BBDF1939FAULL);
}

TEST(Crc, OfPartsIsThatOfTheWhole) {
  const std::string_view text = "neither the number of parts nor their length matters";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes_of(text.substr(cut)), crc32c(bytes_of(text.substr(0, cut)))),
              crc32c_by_table(bytes_of(text)));
    EXPECT_EQ(crc64(bytes_of(text.substr(cut)), crc64(bytes_of(text.substr(0, cut)))),
              crc64(bytes_of(text)));
  }
}

constexpr RunToken kToken{17, 23};
constexpr FrameLimits kLimits{.body = 100, .floats = 10};

FrameHeader gradient_header() {
  return {.type = MessageType::Gradient,
          .token = kToken,
          .sender = 3,
          .number = 7,
          .body = 100,
          .floats = 10,
          .payload_crc = 5};
}

TEST(Wire, AHeaderIsReadAsItWasWritten) {
  const auto read = read_header(write_header(gradient_header()), kToken, kLimits);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().type, MessageType::Gradient);
  EXPECT_EQ(read.value().number, 7);
  EXPECT_EQ(read.value().sender, 3);
  EXPECT_EQ(read.value().floats, 10U);
}

TEST(Wire, EveryChangedBitOfAHeaderIsNoticed) {
  const auto written = write_header(gradient_header());
  for (std::size_t bit = 0; bit < kHeaderBytes * 8; ++bit) {
    auto damaged = written;
    damaged[bit / 8] ^= std::byte(1U << (bit % 8));
    EXPECT_FALSE(read_header(damaged, kToken, kLimits).ok()) << "bit " << bit;
  }
}

TEST(Wire, AnotherTokenIsRefused) {
  const auto read = read_header(write_header(gradient_header()), {17, 24}, kLimits);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Code::PermissionDenied);
}

TEST(Wire, WhatIsLongerThanAllowedIsRefusedBeforeItIsRead) {
  FrameHeader header = gradient_header();
  header.floats = 11;
  EXPECT_FALSE(read_header(write_header(header), kToken, kLimits).ok());
  header = gradient_header();
  header.body = 101;
  EXPECT_FALSE(read_header(write_header(header), kToken, kLimits).ok());
  header = gradient_header();
  header.type = MessageType::StartTask;  // has no floats, whatever the limit
  EXPECT_FALSE(read_header(write_header(header), kToken, kLimits).ok());
}

TEST(Wire, ATokenIsReadAsItWasWritten) {
  const RunToken token = random_token();
  EXPECT_EQ(parse_token(token_text(token) + "\n").value(), token);
  EXPECT_FALSE(parse_token("0123").ok());
  EXPECT_FALSE(parse_token(std::string(32, 'g')).ok());
}

TEST(Wire, MessagesAreReadAsTheyWereWritten) {
  const ApplyMessage message{.update = {.version = 9, .rate = 0.1, .terms = {{4, 0.5}, {5, 0.25}}},
                             .fresh = {1, 0},
                             .workers = {WorkerId{1}, WorkerId{2}}};
  const auto read = read_fields<ApplyMessage>(write_fields(message));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().update.terms[1].weight, 0.25);
  EXPECT_EQ(read.value().fresh, message.fresh);
  EXPECT_EQ(read.value().workers, message.workers);
}

TEST(Wire, EveryPrefixOfAMessageIsRefused) {
  const ReadyMessage message{.error = "no", .tensors = {{"weights", 0, 4}}, .address = "::1"};
  const auto written = write_fields(message);
  for (std::size_t length = 0; length < written.size(); ++length) {
    EXPECT_FALSE(read_fields<ReadyMessage>(std::span(written).first(length)).ok()) << length;
  }
  auto longer = written;
  longer.push_back(std::byte(0));
  EXPECT_FALSE(read_fields<ReadyMessage>(longer).ok());
}

TEST(Wire, ACountBeyondTheMessageIsRefusedBeforeMemoryIsTaken) {
  const std::vector<std::byte> body(sizeof(std::uint32_t), std::byte(0xFF));
  EXPECT_FALSE(read_fields<PeersMessage>(body).ok());
}

TEST(TokenBucket, LetsAboutItsRateThrough) {
  TokenBucket bucket;
  TokenBucket::Clock::time_point now{};
  bucket.set_rate(1000, now);
  double sent = 0;
  while (now < TokenBucket::Clock::time_point(std::chrono::seconds(10))) {
    sent += 100;
    now += bucket.take(100, now);
  }
  EXPECT_NEAR(sent, 10000, 200);
}

TEST(TokenBucket, HoldsNothingBackWithoutARate) {
  TokenBucket bucket;
  EXPECT_EQ(bucket.take(1 << 30, {}), TokenBucket::Clock::duration::zero());
}

}  // namespace
}  // namespace orrery
