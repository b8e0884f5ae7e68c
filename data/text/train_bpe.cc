#include "data/text/train_bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <queue>
#include <set>
#include <unordered_map>

#include "data/text/byte_symbols.h"
#include "data/text/gpt2_pattern.h"
#include "data/text/utf8.h"

namespace torus::data {
namespace {

using Id = uint32_t;  // bytes in the order of their symbols, then merges

// The bytes, by the code points of their symbols. UTF-8 has the same order.
std::vector<uint8_t> BytesInOrder() {
  std::vector<uint8_t> bytes(256);
  std::iota(bytes.begin(), bytes.end(), uint8_t{0});
  std::ranges::sort(bytes, {}, [](uint8_t byte) { return SymbolOfByte(byte); });
  return bytes;
}

// Two neighbours, ordered by the first and then by the second.
using Pair = uint64_t;
Pair PairOf(Id left, Id right) { return Pair{left} << 32 | right; }

struct Word {
  std::vector<Id> ids;
  int64_t count = 0;
};

// A pair and its count when it was queued.
struct Candidate {
  int64_t count = 0;
  Pair pair = 0;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

class Trainer {
 public:
  explicit Trainer(const PieceCounts& pieces) {
    std::array<Id, 256> id_of{};
    for (const uint8_t byte : BytesInOrder()) {
      id_of[byte] = IdOf(std::string(1, static_cast<char>(byte)));
    }
    for (const auto& [piece, count] : pieces.counts()) {
      Word& word = words_.emplace_back(Word{{}, count});
      for (const char byte : piece) word.ids.push_back(id_of[static_cast<uint8_t>(byte)]);
      for (size_t i = 0; i + 1 < word.ids.size(); ++i)
        Add(words_.size() - 1, PairOf(word.ids[i], word.ids[i + 1]));
    }
    for (const auto& [pair, count] : counts_) queue_.push({count, pair});
  }

  std::vector<TrainedMerge> Run(int64_t most) {
    std::vector<TrainedMerge> merges;
    while (std::ssize(strings_) < 256 + most && !queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const int64_t now = counts_[top.pair];
      if (now != top.count) {  // it has changed since
        if (now > 0) queue_.push({now, top.pair});
        continue;
      }
      if (now < kLeast) break;
      const auto left = static_cast<Id>(top.pair >> 32), right = static_cast<Id>(top.pair);
      merges.emplace_back(strings_[left], strings_[right]);
      Merge(left, right);
    }
    return merges;
  }

 private:
  static constexpr int64_t kLeast = 2;

  // Two merges may make the same string.
  Id IdOf(const std::string& string) {
    const auto [found, is_new] = numbers_.try_emplace(string, static_cast<Id>(strings_.size()));
    if (is_new) strings_.push_back(string);
    return found->second;
  }

  // One more place of a pair in a word. Places of a word are added one after the other, so that the
  // pair lists it once each time; all lists together have at most as many entries as there were
  // places, at first and behind merges.
  void Add(size_t number, Pair pair) {
    counts_[pair] += words_[number].count;
    std::vector<size_t>& words = words_of_[pair];
    if (words.empty() || words.back() != number) words.push_back(number);
  }

  void TakeBack(size_t number, Pair pair) { counts_[pair] -= words_[number].count; }

  // The different words that have the pair, or had it. It will not be asked for again, unless it is
  // added again.
  std::vector<size_t> TakeWordsOf(Pair pair) {
    std::vector<size_t> words = std::move(words_of_[pair]);
    words_of_.erase(pair);
    std::ranges::sort(words);
    const auto repeated = std::ranges::unique(words);
    words.erase(repeated.begin(), repeated.end());
    return words;
  }

  void Merge(Id left, Id right) {
    const Id made = IdOf(strings_[left] + strings_[right]);
    std::set<Pair> news;
    for (const size_t number : TakeWordsOf(PairOf(left, right)))
      MergeIn(number, left, right, made, &news);
    for (const Pair pair : news)
      if (const int64_t count = counts_[pair]; count > 0) queue_.push({count, pair});
  }

  // Counts follow each single merge, so they are right in between: what is before `kept` is merged
  // already, what is from `i` on is not.
  void MergeIn(size_t number, Id left, Id right, Id made, std::set<Pair>* news) {
    std::vector<Id>& ids = words_[number].ids;
    const auto replace = [&](Pair old, Pair by) {
      TakeBack(number, old);
      Add(number, by);
      news->insert(by);
    };
    size_t kept = 0;
    for (size_t i = 0; i < ids.size(); ++kept) {
      const bool joins = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
      if (joins) {
        TakeBack(number, PairOf(left, right));
        if (kept > 0) replace(PairOf(ids[kept - 1], left), PairOf(ids[kept - 1], made));
        if (i + 2 < ids.size()) replace(PairOf(right, ids[i + 2]), PairOf(made, ids[i + 2]));
      }
      ids[kept] = joins ? made : ids[i];
      i += joins ? 2 : 1;
    }
    ids.resize(kept);
  }

  std::vector<std::string> strings_;  // [id] its bytes
  std::unordered_map<std::string, Id> numbers_;
  std::vector<Word> words_;
  std::unordered_map<Pair, int64_t> counts_;
  // Words that have the pair, and some that had it.
  std::unordered_map<Pair, std::vector<size_t>> words_of_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

void PieceCounts::Add(std::string_view text) {
  static const Gpt2Pattern pattern;
  const auto add = [this](std::string_view piece) {
    const auto found = counts_.find(piece);
    if (found == counts_.end())
      counts_.emplace(piece, 1);
    else
      ++found->second;
  };
  while (!text.empty()) {
    const size_t valid = ValidUtf8Prefix(text);
    Gpt2Pattern::Scanner scanner(pattern, text.substr(0, valid));
    for (std::string_view piece; scanner.Next(&piece);) add(piece);
    text.remove_prefix(valid);
    const size_t invalid = InvalidPrefix(text);
    if (invalid > 0) add(text.substr(0, invalid));
    text.remove_prefix(invalid);
  }
}

std::vector<TrainedMerge> TrainMerges(const PieceCounts& pieces, int64_t most) {
  return Trainer(pieces).Run(most);
}

std::map<std::string, std::string> BpeFiles(const std::vector<TrainedMerge>& merges) {
  std::string numbers, lines = "#version: 0.2\n";
  std::set<std::string> tokens;
  // Not again what an earlier merge has made.
  const auto add = [&](const std::string& token) {
    if (!tokens.insert(token).second) return;
    numbers += fmt::format("{}{}: {}", tokens.size() == 1 ? "{" : ", ",
                           nlohmann::json(token).dump(), tokens.size() - 1);
  };
  for (const uint8_t byte : BytesInOrder()) add(SymbolOfByte(byte));
  for (const auto& [left, right] : merges) {
    lines += SymbolsOfBytes(left) + " " + SymbolsOfBytes(right) + "\n";
    add(SymbolsOfBytes(left + right));
  }
  add("<|endoftext|>");
  return {{"vocab.json", numbers + "}\n"},
          {"merges.txt", lines},
          {"tokenizer_config.json", "{\"tokenizer_class\": \"GPT2Tokenizer\"}\n"}};
}

}  // namespace torus::data
