// The merges of a byte-pair encoding (Sennrich, Haddow, Birch, "Neural machine translation of rare
// words with subword units", 2016, algorithm 1), over bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// A symbol: 0 to 255 is that byte, 256 + r is what the merge of rank r makes. Lower symbols merge
// first. (Vocabularies number their tokens otherwise.)
using Symbol = uint32_t;
inline constexpr Symbol kNoSymbol = UINT32_MAX;
inline constexpr Symbol kByteSymbols = 256;

class Merges {
 public:
  // Most merges that a file may have.
  static constexpr size_t kMost = size_t{1} << 24;

  // Of the text of a merges file: "#version: 0.2" may be the first line, then one merge a line, two
  // strings of byte symbols (byte_symbols.h) with a space between, each a byte or made by a line
  // above. BadInput naming `path` and the line otherwise, and where two lines make the same string.
  Merges(std::string_view text, const std::string& path);

  size_t symbols() const { return bytes_.size(); }  // the bytes, and what each merge makes
  // The bytes that a symbol stands for.
  const std::string& BytesOf(Symbol symbol) const { return bytes_[symbol]; }

  // What left and right merge to; kNoSymbol where there is no such merge.
  Symbol Find(Symbol left, Symbol right) const {
    const uint64_t key = uint64_t{left} << 32 | right;
    for (size_t i = SlotOf(key);; ++i) {
      const Slot& slot = slots_[i & mask_];
      if (slot.key == key || slot.merged == kNoSymbol) return slot.merged;
    }
  }

  // Replaces the bytes of `piece` by symbols: as long as two neighbours merge, those of the lowest
  // rank do, the leftmost first. Any length: n log n. Overwrites `symbols`.
  void Apply(std::string_view piece, std::vector<Symbol>* symbols) const;

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    Symbol merged = kNoSymbol;  // empty
  };

  size_t SlotOf(uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
  void Insert(Symbol left, Symbol right, Symbol merged);

  std::vector<std::string> bytes_;  // [symbol]
  std::vector<Slot> slots_;         // open addressing, at most half full
  size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace torus::data
