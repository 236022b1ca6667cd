#include "attack/attack.h"

#include <httplib.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace orrery {

namespace fs = std::filesystem;

AttackTest::AttackTest() {
  signal(SIGPIPE, SIG_IGN);  // connections are closed on us
  fs::permissions(folder_.path(),
                  fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
}

bool AttackTest::with_logins() { return logins().why.empty(); }

std::string AttackTest::anns_folder() const {
  std::string folder = file("anns");
  fs::create_directory(folder);
  EXPECT_EQ(chown(folder.c_str(), ann().uid(), ann().uid()), 0);
  return folder;
}

std::unique_ptr<Background> AttackTest::serve_as_ann(const Words& more) {
  anns_folder();
  Words words = {"serve", "--state", anns_state(), "--rest", "127.0.0.1:0"};
  words.insert(words.end(), more.begin(), more.end());
  const std::string mark = anns_state() + "/address";
  std::error_code none;
  fs::remove(mark, none);
  auto process = std::make_unique<Background>(words, file("anns.err"), ann().name());
  EXPECT_TRUE(eventually([&] { return fs::exists(mark, none) || process->end(); }));
  EXPECT_FALSE(process->end()) << process->errors();
  return process;
}

int port_in(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return std::stoi(line.substr(line.rfind(':') + 1));
}

AttackTest::RestReply AttackTest::rest_jobs(const std::string& state, const std::string& pair) {
  httplib::SSLClient client("127.0.0.1", port_in(state + "/rest"), pair + ".pem", pair + ".key");
  client.set_ca_cert_path((state + "/trust/ca.pem").c_str());
  client.set_connection_timeout(5);
  client.set_read_timeout(5);
  const auto answer = client.Get("/v1/jobs");
  return answer ? RestReply{answer->status, answer->body} : RestReply{};
}

void AttackTest::expect_refused(const Finished& run, const Words& said) {
  EXPECT_NE(run.exit_code, 0) << "it is let do that";
  for (const std::string& part : said) {
    EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
  }
}

}  // namespace orrery
