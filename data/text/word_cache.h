// A cache of the tokens of words, because most of a text repeats few words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace torus::data {

// Bounded: at most kMostWords words of at most kLongest bytes, about 10 MB. When it is full, it is
// cleared. Not thread-safe.
class WordCache {
 public:
  static constexpr size_t kMostWords = size_t{1} << 16;
  static constexpr size_t kLongest = 32;

  // The word's tokens; null if they are not cached. Valid until the next Put.
  const std::vector<int32_t>* Find(std::string_view word) const {
    if (word.size() > kLongest) return nullptr;
    const auto found = words_.find(word);
    return found == words_.end() ? nullptr : &found->second;
  }

  void Put(std::string_view word, const int32_t* begin, const int32_t* end) {
    if (word.size() > kLongest) return;
    if (words_.size() == kMostWords) words_.clear();
    words_.emplace(word, std::vector<int32_t>(begin, end));
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view word) const { return std::hash<std::string_view>()(word); }
  };

  std::unordered_map<std::string, std::vector<int32_t>, Hash, std::equal_to<>> words_;
};

}  // namespace torus::data
