#include "live/auth/credentials.h"

#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/state_folder.h"
#include "live/auth/limits.h"
#include "live/auth/test_trust.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

std::string content_of(const std::string& path) { return good(read_file(path)); }

void overwrite(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// The file mode mask of this process, while it lasts.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

class LocalTrustTest : public testing::Test {
 protected:
  LocalTrust open(std::chrono::sys_seconds now = kToday,
                  const std::vector<std::string>& hosts = {}) {
    return good(load_or_make_local(state_, hosts, now));
  }
  std::string why_not() const { return why(load_or_make_local(state_, {}, kToday)); }

  TestFolder folder_;
  const std::string state_ = folder_ / "above/trust";
};

TEST_F(LocalTrustTest, IsMadeAtTheFirstStartAndLoadedLater) {
  const LocalTrust first = open();
  const LocalTrust second = open(kToday + 24h);
  EXPECT_EQ(second.authority.certificate_pem(), first.authority.certificate_pem());
  EXPECT_EQ(second.server.certificate_pem, first.server.certificate_pem);
  EXPECT_EQ(second.admin.certificate_pem, first.admin.certificate_pem);
  EXPECT_EQ(second.admin.key_pem.reveal(), first.admin.key_pem.reveal());
  EXPECT_EQ(content_of(state_ + "/ca.pem"), first.authority.certificate_pem());
}

TEST_F(LocalTrustTest, HasAServerAndAnAdminThatBelieveEachOther) {
  const LocalTrust trust = open(kToday, {"cluster.example.org"});
  EXPECT_EQ(why(verify_certificate(trust.admin.ca_pem, trust.server.certificate_pem,
                                   CertificateUse::Server, kToday)),
            "");
  EXPECT_TRUE(good(covers(trust.server.certificate_pem,
                          {"localhost", "127.0.0.1", "::1", "cluster.example.org"})));
  const Identity caller = good(caller_of(trust.server.ca_pem, trust.admin.certificate_pem, kToday));
  EXPECT_EQ(caller.role, Role::Admin);
  const Credentials loaded = good(load_credentials(state_, "admin"));
  EXPECT_EQ(loaded.certificate_pem, trust.admin.certificate_pem);
  EXPECT_EQ(loaded.key_pem.reveal(), trust.admin.key_pem.reveal());
}

TEST_F(LocalTrustTest, RenewsWithTheOldKeyWhatIsNearItsEnd) {
  const LocalTrust first = open();
  const auto later = kToday + kPersonLife * 3 / 4;
  const LocalTrust second = open(later);
  EXPECT_EQ(second.server.certificate_pem, first.server.certificate_pem);
  EXPECT_NE(second.admin.certificate_pem, first.admin.certificate_pem);
  EXPECT_EQ(second.admin.key_pem.reveal(), first.admin.key_pem.reveal());
  EXPECT_GT(good(validity_of(second.admin.certificate_pem)).until, later + kPersonLife / 2);
}

TEST_F(LocalTrustTest, IssuesTheServersAgainForANewHost) {
  const LocalTrust first = open();
  const LocalTrust second = open(kToday, {"10.0.0.7"});
  EXPECT_NE(second.server.certificate_pem, first.server.certificate_pem);
  EXPECT_TRUE(good(covers(second.server.certificate_pem, {"10.0.0.7"})));
  EXPECT_EQ(second.admin.certificate_pem, first.admin.certificate_pem);
}

TEST_F(LocalTrustTest, RebuildsWhatTheAuthorityCanRebuild) {
  const LocalTrust first = open();
  overwrite(state_ + "/server.key", "garbage");
  overwrite(state_ + "/admin.pem", "garbage");
  std::filesystem::remove(state_ + "/ca.pem");
  const LocalTrust second = open();
  EXPECT_EQ(second.authority.certificate_pem(), first.authority.certificate_pem());
  EXPECT_TRUE(good(belong_together(second.server.certificate_pem, second.server.key_pem)));
  EXPECT_EQ(second.admin.key_pem.reveal(), first.admin.key_pem.reveal());
  EXPECT_EQ(content_of(state_ + "/ca.pem"), first.authority.certificate_pem());
  EXPECT_EQ(why(load_credentials(state_, "server")), "");
}

TEST_F(LocalTrustTest, ABrokenAuthorityIsNotQuietlyReplaced) {
  open();
  const std::string path = state_ + "/authority.pem";
  const std::string before = content_of(path);
  for (const std::string& broken :
       {std::string(), before.substr(0, before.size() / 2), std::string("garbage")}) {
    overwrite(path, broken);
    EXPECT_EQ(why_not().find(path), 0u) << why_not();
    EXPECT_EQ(content_of(path), broken);
  }
  overwrite(path, before);
  EXPECT_EQ(why_not(), "");
}

TEST_F(LocalTrustTest, KeyAndCertificateOfTwoAuthoritiesAreRefused) {
  open();
  const std::string other = folder_ / "other";
  good(load_or_make_local(other, {}, kToday));
  const std::string mine = content_of(state_ + "/authority.pem");
  const std::string theirs = content_of(other + "/authority.pem");
  const auto cut = [](const std::string& text) { return text.find("-----BEGIN CERTIFICATE"); };
  overwrite(state_ + "/authority.pem", mine.substr(0, cut(mine)) + theirs.substr(cut(theirs)));
  EXPECT_NE(why_not().find("not those of one authority"), std::string::npos) << why_not();
  overwrite(state_ + "/authority.pem",
            content_of(state_ + "/admin.key") + content_of(state_ + "/admin.pem"));
  EXPECT_NE(why_not().find("not those of one authority"), std::string::npos) << why_not();
}

TEST_F(LocalTrustTest, AnExpiredAuthoritySaysWhatToDo) {
  open();
  const auto late = load_or_make_local(state_, {}, kToday + kAuthorityLife);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, Code::FailedPrecondition);
  EXPECT_NE(late.error().message.find("join again"), std::string::npos);
}

TEST_F(LocalTrustTest, IsPrivateWhateverTheUmask) {
  for (const mode_t mask : {0u, 022u, 077u, 0277u, 0777u}) {
    const std::string state = folder_ / std::to_string(mask);
    {
      const Umask odd(mask);
      EXPECT_EQ(why(load_or_make_local(state, {}, kToday)), "") << mask;
    }
    EXPECT_EQ(mode_of(state), 0700) << mask;
    for (const auto& entry : std::filesystem::directory_iterator(state)) {
      EXPECT_EQ(mode_of(entry.path()), 0600) << entry.path() << " " << mask;
    }
    EXPECT_EQ(why(load_or_make_local(state, {}, kToday)), "") << mask;
  }
}

TEST_F(LocalTrustTest, RefusesWhatOthersMayRead) {
  open();
  for (const char* name : {"authority.pem", "server.key", "admin.key"}) {
    const std::string path = state_ + "/" + name;
    for (const mode_t mode : {0640u, 0604u, 0620u}) {
      ::chmod(path.c_str(), mode);
      EXPECT_NE(why_not().find("chmod 600 " + path), std::string::npos) << why_not();
    }
    ::chmod(path.c_str(), 0600);
  }
  ::chmod(state_.c_str(), 0750);
  EXPECT_NE(why_not().find("chmod go-rw " + state_), std::string::npos) << why_not();
  ::chmod(state_.c_str(), 0700);
  EXPECT_EQ(why_not(), "");
}

TEST_F(LocalTrustTest, RefusesWhatIsNoFileOrNoDirectory) {
  open();
  const std::string path = state_ + "/admin.key";
  std::filesystem::rename(path, folder_ / "admin.key");
  std::filesystem::create_symlink(folder_ / "admin.key", path);
  EXPECT_NE(why_not().find("is a link"), std::string::npos) << why_not();
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(why_not().find("is no file"), std::string::npos) << why_not();
  EXPECT_NE(why(load_or_make_local(state_ + "/ca.pem", {}, kToday)).find("Not a directory"),
            std::string::npos);
  EXPECT_FALSE(load_or_make_local("", {}, kToday).ok());
}

TEST_F(LocalTrustTest, RefusesTheDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  open();
  ASSERT_EQ(::chown(state_.c_str(), 12345, 12345), 0);
  EXPECT_NE(why_not().find("belongs to uid-12345"), std::string::npos) << why_not();
}

TEST_F(LocalTrustTest, ProcessesThatStartTogetherGetTheSameAuthority) {
  constexpr int kProcesses = 6;
  for (int round = 0; round < 5; ++round) {
    const std::string state = folder_ / ("round" + std::to_string(round));
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) {
        ::umask(i % 2 == 0 ? 0777 : 0);
        ::close(gate[1]);
        char byte = 0;
        if (::read(gate[0], &byte, 1) != 0) ::_exit(3);  // until all are there
        const auto trust = load_or_make_local(state, {}, kToday);
        if (!trust.ok()) ::_exit(1);
        // What each of them holds is what stays.
        const auto kept = load_credentials(state, "admin");
        const bool same = kept.ok() && kept.value().ca_pem == trust.value().admin.ca_pem &&
                          kept.value().certificate_pem == trust.value().admin.certificate_pem &&
                          kept.value().key_pem.reveal() == trust.value().admin.key_pem.reveal();
        ::_exit(same ? 0 : 2);
      }
      children.push_back(child);
    }
    ::close(gate[0]);
    ::close(gate[1]);
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    EXPECT_EQ(content_of(state + "/ca.pem"),
              good(Authority::open(state, kToday)).certificate_pem());
  }
}

TEST_F(LocalTrustTest, AnAgentKeepsWhatItJoinedWith) {
  const LocalTrust trust = open();
  const KeyAndRequest made = good(make_key_and_request());
  const Credentials agent{.ca_pem = trust.authority.certificate_pem(),
                          .certificate_pem = good(trust.authority.issue(
                              made.request_pem, {Role::Agent, "node-1"}, kAgentLife, kToday)),
                          .key_pem = made.key_pem};
  const std::string place = folder_ / "node";
  EXPECT_EQ(load_credentials(place, "agent").error().code, Code::NotFound);
  EXPECT_EQ(why(save_credentials(place, "agent", agent)), "");
  const Credentials loaded = good(load_credentials(place, "agent"));
  EXPECT_EQ(loaded.certificate_pem, agent.certificate_pem);
  EXPECT_EQ(mode_of(place + "/agent.key"), 0600);
  overwrite(place + "/agent.key", trust.admin.key_pem.reveal());
  EXPECT_NE(why(load_credentials(place, "agent")).find("not the key of"), std::string::npos);
  EXPECT_FALSE(load_credentials(place, "../node/agent").ok());
}

}  // namespace
}  // namespace orrery
