#include "recipes/settings/apply_flags.h"

#include <sstream>

#include "runtime/error.h"

namespace torus::recipes {
namespace {

template <class Value>
void Read(std::istringstream& words, const std::string& flag, Value& value) {
  words >> value;
  Require(!words.fail(), "settings", "{} needs a value", flag);
}

// One more of several.
void Read(std::istringstream& words, const std::string& flag, std::vector<std::string>& values) {
  Read(words, flag, values.emplace_back());
}

// Returns whether `word` is this flag, and then reads its value.
template <class Value>
bool Takes(const std::string& word, const std::string& flag, std::istringstream& words,
           Value& value) {
  if (word != flag) return false;
  Read(words, flag, value);
  return true;
}

bool Takes(const std::string& word, const std::string& flag, std::istringstream&, bool& value) {
  if (word != flag && word != "--no-" + flag.substr(2)) return false;
  value = word == flag;
  return true;
}

}  // namespace

void ApplyFlags(const std::string& flags, Settings& settings) {
  std::istringstream words(flags);
  for (std::string word; words >> word;) {
    bool known = false;
    ForEachSetting(settings, [&](const std::string& flag, auto& value) {
      known = known || Takes(word, flag, words, value);
    });
    Require(known, "settings", "{} is no setting", word);
  }
}

}  // namespace torus::recipes
