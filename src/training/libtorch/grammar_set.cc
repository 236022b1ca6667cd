#include <array>
#include <string>
#include <vector>

#include "base/random.h"
#include "training/libtorch/dataset.h"

namespace orrery {
namespace {

constexpr std::size_t kGrammarCharacters = 1'000'000;

// A made-up language: a noun of one of two genders, whose ending its adjective and its verb share.
// Words repeat, so a model learns them soon; the endings need memory over several words.
class Language {
 public:
  explicit Language(std::uint64_t seed) : random_(seed ^ 0x6772616d6d6172ULL) {
    for (auto* words : {&nouns_[0], &nouns_[1], &adjectives_, &verbs_}) {
      for (int word = 0; word < kWords; ++word) words->push_back(new_word());
    }
  }

  std::string sentence() {
    const auto gender = static_cast<std::size_t>(random_.between(0, 1));
    const std::string ending = gender == 0 ? "a" : "os";
    std::string text = "the ";
    for (std::int64_t left = random_.between(0, 2); left > 0; --left) {
      text += pick(adjectives_) + ending + ' ';
    }
    text += pick(nouns_[gender]) + ' ' + pick(verbs_) + ending;
    if (random_.uniform() < 0.5) text += " the " + pick(nouns_[1 - gender]);
    return text + ".\n";
  }

 private:
  static constexpr int kWords = 12;

  std::string new_word() {
    static constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
    std::string word;
    for (std::int64_t syllable = random_.between(1, 3); syllable > 0; --syllable) {
      word += kConsonants[static_cast<std::size_t>(random_.between(0, 13))];
      word += kVowels[static_cast<std::size_t>(random_.between(0, 4))];
    }
    return word + kConsonants[static_cast<std::size_t>(random_.between(0, 13))];
  }

  // The first words of a list are the frequent ones.
  const std::string& pick(const std::vector<std::string>& words) {
    const double place = random_.uniform() * random_.uniform();
    return words[static_cast<std::size_t>(place * kWords)];
  }

  Random random_;
  std::array<std::vector<std::string>, 2> nouns_;
  std::vector<std::string> adjectives_, verbs_;
};

}  // namespace

Dataset make_grammar_set(std::uint64_t seed) {
  Language language(seed);
  std::string text;
  while (text.size() < kGrammarCharacters) text += language.sentence();
  return text_set(text).value();
}

}  // namespace orrery
