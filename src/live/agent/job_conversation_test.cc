#include "live/agent/job_conversation.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

using Kind = JobWord::Kind;

constexpr int kPlenty = 1000;
const std::string kHello = "{\"kind\":\"hello\",\"version\":1,\"rank\":2}\n";

struct Heard {
  std::vector<JobWord> words{};
  std::string error{};  // empty: none
};

Heard hear(const std::string& bytes, std::size_t piece = 1 << 20, int budget = kPlenty) {
  JobConversation talk(2);
  Heard heard;
  for (std::size_t at = 0; at < bytes.size() && heard.error.empty(); at += piece) {
    const Status status = talk.take(bytes.substr(at, piece), budget, heard.words);
    if (!status.ok()) heard.error = status.error().message;
  }
  return heard;
}

TEST(JobConversation, HearsWhatAJobMaySay) {
  const Heard heard = hear(kHello +
                           "{\"kind\":\"progress\",\"iteration\":7,\"of\":90,\"loss\":0.5,"
                           "\"samples\":448}\r\n\n"
                           "{\"iteration\":7,\"kind\":\"checkpointed\"}\n"
                           "{\"kind\":\"can_stop_at\",\"iteration\":8}\n"
                           "{\"kind\":\"bye\",\"finished\":true}\n");
  EXPECT_EQ(heard.error, "");
  ASSERT_EQ(heard.words.size(), 5u);
  EXPECT_EQ(heard.words[0].kind, Kind::Hello);
  EXPECT_EQ(heard.words[0].version, 1);
  EXPECT_EQ(heard.words[0].rank, 2);
  EXPECT_EQ(heard.words[1], (JobWord{.rank = 2,
                                     .kind = Kind::Progress,
                                     .iteration = 7,
                                     .of = 90,
                                     .loss = 0.5,
                                     .samples = 448}));
  EXPECT_EQ(heard.words[2], (JobWord{.rank = 2, .kind = Kind::Checkpointed, .iteration = 7}));
  EXPECT_EQ(heard.words[3], (JobWord{.rank = 2, .kind = Kind::CanStopAt, .iteration = 8}));
  EXPECT_EQ(heard.words[4], (JobWord{.rank = 2, .kind = Kind::Bye, .finished = true}));
}

TEST(JobConversation, PiecesOfAnySizeSayTheSame) {
  const std::string bytes = kHello + "{\"kind\":\"progress\",\"iteration\":7}\n" +
                            "{\"kind\":\"of tomorrow\"}\n{\"kind\":\"can_stop_at\"}\n" +
                            "{\"kind\":\"bye\"}\n";
  const Heard whole = hear(bytes);
  EXPECT_EQ(whole.words.size(), 2u);
  EXPECT_EQ(whole.error, "can_stop_at: needs \"iteration\"");
  for (std::size_t piece = 1; piece < bytes.size(); ++piece) {
    const Heard heard = hear(bytes, piece);
    EXPECT_EQ(heard.words, whole.words) << piece;
    EXPECT_EQ(heard.error, whole.error) << piece;
  }
}

TEST(JobConversation, UnknownKeysAndKindsAreIgnored) {
  JobConversation talk(2);
  std::vector<JobWord> words;
  int budget = kPlenty;
  EXPECT_TRUE(talk.take("{\"kind\":\"of tomorrow\",\"iteration\":\"?\"}\n", budget, words).ok());
  EXPECT_TRUE(talk.take(kHello, budget, words).ok());
  EXPECT_TRUE(talk.take("{\"kind\":\"progress\",\"iteration\":1,\"mood\":[{}]}\n{\"kind\":\"x\"}\n",
                        budget, words)
                  .ok());
  EXPECT_EQ(words.size(), 2u);
  EXPECT_EQ(talk.ignored(), 2);
}

TEST(JobConversation, NothingIsHeardAfterBye) {
  const Heard heard = hear(kHello + "{\"kind\":\"bye\"}\nthis is not JSON\n");
  EXPECT_EQ(heard.words.size(), 2u);
  EXPECT_EQ(heard.error, "");
}

TEST(JobConversation, SaysWhatIsWrongWithALine) {
  const auto error = [](const std::string& line) { return hear(kHello + line + "\n").error; };
  EXPECT_EQ(error("{\"kind\":\"bye\""), "not JSON, from byte 14 on");
  EXPECT_EQ(error("[1]"), "a message is a JSON object, {\"kind\":...}");
  EXPECT_EQ(error("{\"sort\":\"bye\"}"),
            "needs \"kind\", one of hello, progress, checkpointed, can_stop_at, bye");
  EXPECT_EQ(error("{\"kind\":7}"), error("{}"));
  const std::string whole =
      "progress: \"iteration\" must be a whole number from 0 to 9007199254740992";
  for (const char* const bad : {"-1", "1.5", "\"7\"", "null", "9007199254740993",
                                "18446744073709551615", "99999999999999999999", "1e3"}) {
    EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":" + std::string(bad) + "}"), whole)
        << bad;
  }
  EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":12,\"of\":10}"),
            "progress: iteration 12 is beyond the 10 in all; leave \"of\" out if it is not known");
  EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":12,\"of\":0}"), "");
  EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":12,\"of\":12}"), "");
  EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":1,\"loss\":\"small\"}"),
            "progress: \"loss\" must be a number or null");
  EXPECT_EQ(error("{\"kind\":\"progress\",\"iteration\":1,\"loss\":1e999}"),
            "not JSON that can be read: a number is out of range");
  EXPECT_EQ(error("{\"kind\":\"bye\",\"finished\":1}"), "bye: \"finished\" must be true or false");
  EXPECT_EQ(error(kHello.substr(0, kHello.size() - 1)), "hello comes once, at the beginning");
}

TEST(JobConversation, ALossThatIsNoNumberIsLeftOut) {
  const Heard heard = hear(kHello + "{\"kind\":\"progress\",\"iteration\":1,\"loss\":null}\n");
  ASSERT_EQ(heard.words.size(), 2u) << heard.error;
  EXPECT_FALSE(heard.words[1].loss.has_value());
}

TEST(JobConversation, BeginsWithAHelloOfTheRightRankAndVersion) {
  EXPECT_EQ(hear("{\"kind\":\"bye\"}\n").error, "the first message must be hello");
  EXPECT_EQ(hear("{\"kind\":\"hello\",\"version\":1,\"rank\":0}\n").error,
            "this is the socket of rank 2, not of rank 0");
  EXPECT_EQ(hear("{\"kind\":\"hello\",\"version\":0,\"rank\":2}\n").error,
            "hello: \"version\" must be a whole number from 1 to 1000000");
  EXPECT_EQ(hear("{\"kind\":\"hello\",\"version\":9,\"rank\":2}\n").words.size(), 1u);
}

TEST(JobConversation, ALineMayHave64KiBAndNotAByteMore) {
  const std::string start = "{\"kind\":\"x\",\"y\":\"";
  const std::string fits = start + std::string(kLongestJobLine - start.size() - 2, 'y') + "\"}";
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1000}}) {
    EXPECT_EQ(hear(kHello + fits + "\n", piece).error, "");
    EXPECT_EQ(hear(kHello + fits + " \n", piece).error, "a line is longer than 65536 bytes");
    EXPECT_EQ(hear(kHello + fits + "  ", piece).error, "a line is longer than 65536 bytes");
  }
}

TEST(JobConversation, DeepNestingIsReadLikeAnythingElse) {
  const std::string deep(30000, '[');
  EXPECT_EQ(hear(kHello + deep + "\n").error, "not JSON, from byte 30001 on");
  const std::string closed = deep + std::string(30000, ']');
  EXPECT_EQ(hear(kHello + "{\"kind\":\"x\",\"y\":" + closed + "}\n").error, "");
}

TEST(JobConversation, ABudgetBoundsWhatIsHeard) {
  std::string bytes = kHello;
  for (int i = 0; i < 10; ++i) bytes += "{\"kind\":\"progress\",\"iteration\":1}\n";
  EXPECT_EQ(hear(bytes, 1 << 20, 11).error, "");
  const Heard heard = hear(bytes, 1 << 20, 10);
  EXPECT_EQ(heard.error, "too many messages");
  EXPECT_EQ(heard.words.size(), 10u);
  EXPECT_EQ(hear(kHello + "\n\n\n", 1 << 20, 3).error, "too many messages");
}

TEST(JobMessage, LinesToTheJobAreWhatThePageSays) {
  EXPECT_EQ(message_line(PrepareStop{}), "{\"kind\":\"prepare_stop\"}\n");
  EXPECT_EQ(message_line(StopAt{.iteration = 12, .reason = StopReason::Drain}),
            "{\"iteration\":12,\"kind\":\"stop_at\",\"reason\":\"drain\"}\n");
  EXPECT_EQ(message_line(ResizeNotice{.gpus = 4, .ranks = 2}),
            "{\"gpus\":4,\"kind\":\"resize\",\"ranks\":2}\n");
  const Launch launch{
      .epoch = 3, .gang = {.ranks = 2}, .checkpoint_directory = "/c/\xff", .resumed = true};
  EXPECT_EQ(welcome_line(launch),
            "{\"checkpoint_dir\":\"/c/\xEF\xBF\xBD\",\"epoch\":3,\"kind\":\"welcome\",\"ranks\":2,"
            "\"resume\":true,\"version\":1}\n");
  EXPECT_EQ(error_line("a \"b\""), "{\"kind\":\"error\",\"message\":\"a \\\"b\\\"\"}\n");
}

}  // namespace
}  // namespace orrery
