#include "live/auth/tokens.h"

#include <set>

#include "live/auth/test_trust.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

const std::string kAuthority(64, 'a');
constexpr int kPort = 7078;

TokenTerms for_agents(int uses = 1) {
  return {.role = Role::Agent, .name = {}, .until = kToday + 1h, .uses = uses};
}

struct Book {
  Tokens tokens{};
  Secret text{};
};

Book book_with(const TokenTerms& terms) {
  NewToken made = good(make_token(terms, kAuthority, kPort));
  Book book{.tokens = {}, .text = made.text};
  book.tokens.put(made.stored);
  return book;
}

TEST(Tokens, LetTheirBearerInAsOftenAsTheySay) {
  Book book = book_with(for_agents(2));
  for (const char* name : {"node-1", "node-2"}) {
    const TokenVerdict answer = book.tokens.take(book.text.reveal(), name, kToday);
    EXPECT_EQ(answer.fault, TokenFault::None);
    EXPECT_EQ(answer.identity, (Identity{Role::Agent, name}));
  }
  const TokenVerdict third = book.tokens.take(book.text.reveal(), "node-3", kToday);
  EXPECT_EQ(third.fault, TokenFault::UsedUp);
  EXPECT_FALSE(third.identity);
}

TEST(Tokens, EndWithTheirTime) {
  Book book = book_with(for_agents(9));
  EXPECT_EQ(book.tokens.take(book.text.reveal(), "n", kToday + 59min).fault, TokenFault::None);
  EXPECT_EQ(book.tokens.take(book.text.reveal(), "n", kToday + 1h).fault, TokenFault::Expired);
}

TEST(Tokens, WithANameAreForThatNameOnly) {
  Book book = book_with({.role = Role::User, .name = "ann", .until = kToday + 1h, .uses = 1});
  EXPECT_EQ(book.tokens.take(book.text.reveal(), "bob", kToday).fault, TokenFault::OtherName);
  EXPECT_EQ(book.tokens.take(book.text.reveal(), "ann", kToday).identity,
            (Identity{Role::User, "ann"}));
}

TEST(Tokens, OfAnotherSchedulerOrMadeUpAreUnknown) {
  Book book = book_with(for_agents());
  const NewToken other = good(make_token(for_agents(), kAuthority, kPort));
  EXPECT_EQ(book.tokens.take(other.text.reveal(), "n", kToday).fault, TokenFault::Unknown);
  std::string changed = book.text.reveal();
  changed[7] = changed[7] == '0' ? '1' : '0';
  EXPECT_EQ(book.tokens.take(changed, "n", kToday).fault, TokenFault::Unknown);
}

TEST(Tokens, ThatAreNoTokensAreRefusedAsSuch) {
  Book book = book_with(for_agents());
  const std::string text = book.text.reveal();
  for (const std::string& bad :
       {std::string(), std::string("orrery."), text.substr(1), text + "0", text.substr(0, 71),
        std::string(text.size(), '\0'), std::string(1 << 20, 'x'), "ORRERY" + text.substr(6)}) {
    EXPECT_EQ(book.tokens.take(bad, "n", kToday).fault, TokenFault::Malformed);
  }
  EXPECT_EQ(book.tokens.take(text, "../n", kToday).fault, TokenFault::Malformed);
}

TEST(Tokens, AreRefusedWithOneWordWhateverTheFault) {
  EXPECT_EQ(token_refused().code, Code::Unauthenticated);
  for (const TokenFault fault : {TokenFault::Unknown, TokenFault::Expired, TokenFault::UsedUp}) {
    EXPECT_EQ(token_refused().message.find(to_string(fault)), std::string::npos);
  }
}

TEST(Tokens, AreRebuiltFromTheLinesOfTheLog) {
  Book book = book_with(for_agents(2));
  std::vector<std::string> log{write_token(book.tokens.all().begin()->second)};
  log.push_back(write_token(*book.tokens.take(book.text.reveal(), "n", kToday).token));
  Tokens rebuilt;
  for (const std::string& line : log) rebuilt.put(good(read_token(line)));
  ASSERT_EQ(rebuilt.all().size(), 1u);
  EXPECT_EQ(rebuilt.take(book.text.reveal(), "n", kToday).fault, TokenFault::None);
  EXPECT_EQ(rebuilt.take(book.text.reveal(), "n", kToday).fault, TokenFault::UsedUp);
}

TEST(Tokens, TheLogDoesNotHoldTheSecret) {
  const NewToken made = good(make_token(for_agents(), kAuthority, kPort));
  const std::string secret = made.text.reveal().substr(7, 64);
  EXPECT_EQ(write_token(made.stored).find(secret), std::string::npos);
  EXPECT_EQ(secret.find(made.stored.id()), std::string::npos);
}

TEST(Tokens, AreNeverTheSameTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(
        seen.insert(good(make_token(for_agents(), kAuthority, kPort)).text.reveal()).second);
  }
}

TEST(Tokens, NameThePortWhereTheirBearerJoins) {
  const NewToken made = good(make_token(for_agents(), kAuthority, kPort));
  EXPECT_EQ(good(https_port_of(made.text)), kPort);
  // Tokens of an older release name none.
  const std::string older = made.text.reveal().substr(0, 7 + 64 + 1 + 64);
  EXPECT_EQ(good(https_port_of(Secret(older))), 0);
  for (const std::string& bad : {older + ".", older + ".0", older + ".65536", older + ".7x"}) {
    EXPECT_FALSE(https_port_of(Secret(bad)).ok()) << bad;
  }
  EXPECT_FALSE(make_token(for_agents(), kAuthority, 0).ok());
}

TEST(Tokens, AreNotSpentOnAnotherRole) {
  Book book = book_with(for_agents());
  const std::string text = book.text.reveal();
  EXPECT_EQ(book.tokens.take(text, "n", kToday, Role::Operator).fault, TokenFault::OtherRole);
  EXPECT_EQ(book.tokens.take(text, "n", kToday, Role::Agent).fault, TokenFault::None);
}

TEST(Tokens, AreWithdrawnByTheirId) {
  Book book = book_with(for_agents());
  const std::string id = book.tokens.all().begin()->second.id();
  EXPECT_FALSE(book.tokens.withdraw("0123456789ab"));
  EXPECT_TRUE(book.tokens.withdraw(id));
  EXPECT_FALSE(book.tokens.withdraw(id));
  EXPECT_EQ(book.tokens.take(book.text.reveal(), "n", kToday).fault, TokenFault::Unknown);
}

TEST(Tokens, AreForgottenOnceTheyCanNoLongerBeTaken) {
  Book book = book_with(for_agents());
  book.tokens.drop_spent(kToday);
  EXPECT_EQ(book.tokens.all().size(), 1u);
  book.tokens.take(book.text.reveal(), "n", kToday);
  book.tokens.drop_spent(kToday);
  EXPECT_TRUE(book.tokens.all().empty());
  Book later = book_with(for_agents());
  later.tokens.drop_spent(kToday + 1h);
  EXPECT_TRUE(later.tokens.all().empty());
}

TEST(Tokens, AreNotMadeForTermsWithoutSense) {
  const auto until = kToday + 1h;
  for (const Role role : {Role::User, Role::Operator, Role::Admin}) {
    EXPECT_FALSE(
        make_token({.role = role, .name = {}, .until = until, .uses = 1}, kAuthority, kPort).ok());
  }
  EXPECT_FALSE(make_token(for_agents(0), kAuthority, kPort).ok());
  EXPECT_FALSE(make_token(for_agents(-1), kAuthority, kPort).ok());
  EXPECT_FALSE(make_token(for_agents(1 << 30), kAuthority, kPort).ok());
  EXPECT_FALSE(
      make_token({.role = Role::User, .name = "a b", .until = until, .uses = 1}, kAuthority, kPort)
          .ok());
  EXPECT_FALSE(make_token(for_agents(), "abc", kPort).ok());
}

TEST(Tokens, ALineThatIsNoneIsRefused) {
  const std::string line = write_token(good(make_token(for_agents(), kAuthority, kPort)).stored);
  EXPECT_TRUE(read_token(line).ok());
  for (const std::string& bad :
       {std::string(), line + " 1", line.substr(6), line + "x", "token " + line.substr(7),
        std::string("token x agent * 1 1"), std::string(1 << 16, ' '),
        "token " + kAuthority + " agent * 99999999999999999999 1",
        "token " + kAuthority + " user * 1 1", "token " + kAuthority + " agent  1 1",
        "token " + kAuthority + " root n 1 1", "token " + kAuthority + " agent n 1 -1"}) {
    EXPECT_FALSE(read_token(bad).ok()) << bad.substr(0, 100);
  }
}

TEST(Tokens, LetTheirBearerRecogniseTheAuthority) {
  const Authority ours = good(Authority::make(kToday));
  const Authority other = good(Authority::make(kToday));
  const NewToken made =
      good(make_token(for_agents(), good(fingerprint_of(ours.certificate_pem())), kPort));
  EXPECT_EQ(why(check_authority(made.text, ours.certificate_pem())), "");
  const Status impostor = check_authority(made.text, other.certificate_pem());
  ASSERT_FALSE(impostor.ok());
  EXPECT_EQ(impostor.error().code, Code::Unauthenticated);
  EXPECT_EQ(impostor.error().message.find(made.text.reveal()), std::string::npos);
  EXPECT_FALSE(check_authority(Secret("x"), ours.certificate_pem()).ok());
}

}  // namespace
}  // namespace orrery
