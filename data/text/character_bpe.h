// BPE over characters, as Llama 2's tokenizer: no expression cuts the text into words, spaces are a
// character of their own, and a character without a token becomes its bytes. It gives the same
// token numbers as Hugging Face's tokenizers 0.23 for a tokenizer.json of this kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/text/special_tokens.h"
#include "data/text/tokenizer.h"
#include "data/text/vocabulary.h"

namespace torus::data {

// U+2581, which stands for a space in tokens.
inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";

// How a text is changed before the merges. Parts are what lies between special tokens.
struct SpaceRule {
  bool replaced = false;  // spaces become kSpaceSymbol
  enum class Prefix {
    kNone,
    kEachPart,         // kSpaceSymbol in front of each part (the normalizer Prepend)
    kEachPartWithout,  // unless the part begins with it (Metaspace, "always")
    kFirstPartWithout  // and only in front of the text (Metaspace, "first")
  } prefix = Prefix::kNone;
  // Added words that are `normalized` are looked for in the changed text (the rule is a
  // normalizer), not in the text as it is (it is a pre_tokenizer).
  bool before_added_words = false;
  bool split = false;  // merges do not cross the front of a kSpaceSymbol (Metaspace, "split")
};

class CharacterBpe : public Tokenizer {
 public:
  struct Parts {
    std::string name;                                         // "json"
    TokenNumbers numbers;                                     // of all tokens, 0 to n - 1
    std::vector<std::pair<std::string, std::string>> merges;  // the first one merges first
    std::vector<SpecialToken> specials;                       // and the words that were added
    SpaceRule spaces;
    bool byte_fallback = false;       // a character without a token becomes tokens "<0x0A>"
    bool fuse_unknown = false;        // neighbouring unknown characters are one token
    bool ignore_merges = false;       // a piece that is in the vocabulary is one token
    std::optional<int32_t> unknown;   // of characters without a token
    bool decodes_bytes = false;       // such tokens are their bytes in a decoded text
    bool strips_first_space = false;  // of a decoded text
    std::vector<int32_t> beginning;   // as Tokenizer::beginning
    int32_t end_of_text = -1;         // as Tokenizer::end_of_text
  };
  // Throws BadInput naming `path` unless the halves of the merges and what they make are tokens,
  // and no merge is there twice.
  CharacterBpe(Parts parts, const std::string& path);

  const std::string& name() const override { return parts_.name; }
  int64_t vocabulary() const override { return static_cast<int64_t>(bytes_.size()); }
  const std::vector<SpecialToken>& words() const override { return words_; }
  const std::vector<SpecialToken>& specials() const override { return parts_.specials; }
  std::vector<int32_t> beginning() const override { return parts_.beginning; }
  int32_t end_of_text() const override { return parts_.end_of_text; }

  using Tokenizer::Encode;
  // Bytes that are not UTF-8 become their byte tokens. Throws BadInput for a character that has no
  // token, where there is none for unknown ones.
  void Encode(std::string_view text, std::vector<int32_t>* ids) const override;
  void EncodeWithSpecials(std::string_view text, std::vector<int32_t>* ids) const override;
  void EncodeWith(std::string_view text, const std::vector<std::string>& tokens,
                  std::vector<int32_t>* ids) const override;
  std::string Decode(std::span<const int32_t> ids) const override;
  std::string DecodeNext(std::span<const int32_t> ids) const override;

 private:
  void AddMerges(const std::string& path);
  void AddBytes();
  int32_t NumberOf(const std::string& token, const std::string& path) const;
  std::string Spaced(std::string_view part, bool first) const;
  size_t PieceEnd(std::string_view text) const;
  void EncodePart(std::string_view part, bool first, const TokenFilter& recognised,
                  std::vector<int32_t>* ids) const;
  void EncodeBetween(std::string_view text, const TokenFilter& recognised,
                     std::vector<int32_t>* ids) const;
  bool AppendWhole(std::string_view piece, std::vector<int32_t>* ids) const;
  void EncodeText(std::string_view text, std::vector<int32_t>* ids) const;
  void EncodePiece(std::string_view piece, std::vector<int32_t>* ids) const;
  void AppendCharacter(std::string_view character, bool* after_unknown,
                       std::vector<uint32_t>* symbols) const;

  Parts parts_;
  std::vector<SpecialToken> words_;               // of the specials those that are not special
  std::vector<SpecialToken> as_written_;          // those looked for in a text as it is,
  std::vector<SpecialToken> as_spaced_;           // and in what Spaced makes of it
  std::vector<std::string> bytes_;                // [number]: what a token represents
  std::vector<int32_t> byte_numbers_;             // [byte], -1 where it has no token
  std::unordered_map<uint64_t, uint32_t> ranks_;  // of a pair of numbers
  std::vector<uint32_t> results_;                 // [rank]
  bool words_are_apart_ = true;  // no token has a kSpaceSymbol behind another character
};

}  // namespace torus::data
