#include "data/text/vocabulary.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "data/files/lines.h"
#include "data/text/byte_symbols.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostTokens = size_t{1} << 24;

// Receives the parser's events for an object of numbers without nesting.
class NumbersReader : public nlohmann::json_sax<Json> {
 public:
  explicit NumbersReader(const std::string& path) : path_(path) {}

  TokenNumbers numbers;

  bool start_object(size_t) override {
    if (begun_) Throw<BadInput>(path_, "requires one object of numbers, got one in {}", Where());
    begun_ = true;
    return true;
  }
  bool key(std::string& key) override {
    key_ = key;
    return true;
  }
  bool number_integer(int64_t value) override { return Add(value); }
  bool number_unsigned(uint64_t value) override {
    return Add(static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX)));
  }
  bool end_object() override { return true; }
  bool null() override { return Refuse("null"); }
  bool boolean(bool) override { return Refuse("a truth value"); }
  bool number_float(double, const std::string&) override { return Refuse("a fraction"); }
  bool string(std::string&) override { return Refuse("a string"); }
  bool binary(Json::binary_t&) override { return Refuse("binary data"); }
  bool start_array(size_t) override { return Refuse("an array"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const Json::exception&) override {
    Throw<BadInput>(path_, "requires UTF-8 JSON, got something else at byte {}", position);
  }

 private:
  // The current key, for one line of a message.
  std::string Where() const {
    const std::string text = Json(key_).dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= 120 ? text : text.substr(0, 117) + "...";
  }
  bool Refuse(const char* what) const {
    Throw<BadInput>(path_, "requires an object of token numbers, got {} in {}", what, Where());
  }
  bool Add(int64_t value) {
    if (!begun_) Refuse("a number");
    if (value < 0 || value >= static_cast<int64_t>(kMostTokens))
      Throw<BadInput>(path_, "requires numbers of 0 to {}, got {} for {}", kMostTokens - 1, value,
                      Where());
    if (!numbers.emplace(key_, static_cast<int32_t>(value)).second)
      Throw<BadInput>(path_, "requires each token once, got {} twice", Where());
    return true;
  }

  const std::string& path_;
  bool begun_ = false;
  std::string key_;
};

// Maps the words of dict.txt: GPT-2's numbers to its tokens, other words to themselves.
class FairseqWords {
 public:
  explicit FairseqWords(const TokenNumbers& gpt2) : tokens_(gpt2.size()) {
    for (const auto& [token, number] : gpt2) tokens_.at(number) = &token;
  }

  // The token; null if there is none with that number.
  const std::string* Of(const std::string& word) const {
    size_t number = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    if (stop != end) return &word;  // "madeupword0000"
    return error == std::errc() && number < tokens_.size() ? tokens_[number] : nullptr;
  }

 private:
  std::vector<const std::string*> tokens_;
};

}  // namespace

void CheckNumbers(const TokenNumbers& numbers, const std::string& path) {
  std::vector<bool> seen(numbers.size());
  for (const auto& [token, number] : numbers) {
    Require(number < static_cast<int64_t>(numbers.size()) && !seen[number], path,
            "requires the numbers 0 to {}, each once, got {} {}", numbers.size() - 1, number,
            number < static_cast<int64_t>(numbers.size()) ? "twice" : "");
    seen[number] = true;
  }
}

TokenNumbers ParseTokenNumbers(std::string_view text, const std::string& path) {
  NumbersReader reader(path);
  Json::sax_parse(text, &reader);
  Require(!reader.numbers.empty(), path, "requires at least one token, got none");
  return std::move(reader.numbers);
}

TokenNumbers ParseVocabularyJson(std::string_view text, const std::string& path) {
  TokenNumbers numbers = ParseTokenNumbers(text, path);
  CheckNumbers(numbers, path);
  return numbers;
}

TokenNumbers ParseFairseqDictionary(std::string_view text, const std::string& path,
                                    const TokenNumbers& gpt2) {
  TokenNumbers numbers;
  const auto add = [&](const std::string& token) {
    return numbers.emplace(token, static_cast<int32_t>(numbers.size())).second;
  };
  for (const char* token : {"<s>", "<pad>", "</s>", "<unk>"}) add(token);
  const FairseqWords words(gpt2);
  for (const Line& line : LinesOf(text)) {
    const size_t space = line.text.find(' ');
    Require(space != line.text.npos && space > 0, path,
            "line {}: requires a word, a space and a count", line.number);
    const std::string word(line.text.substr(0, space));
    const std::string* const token = words.Of(word);
    Require(token != nullptr, path, "line {}: requires a number of GPT-2's {} tokens, got {}",
            line.number, gpt2.size(), std::string_view(word).substr(0, 80));
    Require(add(*token), path, "line {}: requires each word once, got '{}' twice", line.number,
            std::string_view(word).substr(0, 80));
  }
  Require(add("<mask>"), path, "requires no word <mask>: it is added behind the last");
  return numbers;
}

Vocabulary::Vocabulary(const TokenNumbers& tokens, const Merges& merges, const std::string& path,
                       const std::vector<SpecialToken>& added)
    : numbers_(merges.symbols()), bytes_(tokens.size()), others_(tokens) {
  for (Symbol symbol = 0; symbol < merges.symbols(); ++symbol) {
    const std::string text = SymbolsOfBytes(merges.BytesOf(symbol));
    const auto found = others_.find(text);
    Require(found != others_.end(), path, "requires a number for '{}', which the merges name",
            std::string_view(text).substr(0, 80));
    numbers_[symbol] = found->second;
    bytes_[found->second] = merges.BytesOf(symbol);
    others_.erase(found);
  }
  std::set<std::string_view> own;
  for (const SpecialToken& token : added) own.insert(token.text);
  for (const auto& [token, number] : others_)
    bytes_[number] = own.contains(token) ? token : BytesOfSymbols(token).value_or(token);
}

std::optional<int32_t> Vocabulary::NumberOfOther(std::string_view token) const {
  const auto found = others_.find(token);
  return found == others_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace torus::data
