// The merges of a byte-pair encoding (Sennrich, Haddow, Birch, "Neural machine translation of rare
// words with subword units", 2016, algorithm 1), over bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// A string of bytes that merges take or make: 0 to 255 is that byte, the others come in the order
// in which the lines name them. (Token numbers in vocabularies are different.)
using Symbol = uint32_t;
inline constexpr Symbol kByteSymbols = 256;

// A merge's place among all, from 0. Lower ranks merge first.
using Rank = uint32_t;
inline constexpr Rank kNoRank = UINT32_MAX;

class Merges {
 public:
  // The most merges that a file may have.
  static constexpr size_t kMost = size_t{1} << 24;

  // Parses the text of a merges file: optionally "#version: 0.2" as the first line, then one merge
  // per line. A merge is two strings of byte symbols (byte_symbols.h) separated by a space. Several
  // lines may have the same result, and a string need not be that of an earlier line: files that
  // were made of a vocabulary have a line for each way to cut a token in two. Throws BadInput
  // naming `path` and the line otherwise, and for the same line twice.
  Merges(std::string_view text, const std::string& path);

  size_t symbols() const { return bytes_.size(); }  // the bytes, and all strings of the lines
  // The bytes that a symbol represents.
  const std::string& BytesOf(Symbol symbol) const { return bytes_[symbol]; }

  // The rank of merging left and right; kNoRank if there is no such merge.
  Rank Find(Symbol left, Symbol right) const {
    const uint64_t key = uint64_t{left} << 32 | right;
    for (size_t i = SlotOf(key);; ++i) {
      const Slot& slot = slots_[i & mask_];
      if (slot.key == key || slot.rank == kNoRank) return slot.rank;
    }
  }
  // What the merge of a rank makes.
  Symbol ResultOf(Rank rank) const { return results_[rank]; }

  // Sets `symbols` to the bytes of `piece` after all merges: as long as two neighbours can merge,
  // the pair of the lowest rank does, the leftmost first. O(n log n) for any length.
  void Apply(std::string_view piece, std::vector<Symbol>* symbols) const;

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    Rank rank = kNoRank;  // empty
  };

  size_t SlotOf(uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
  // Adds the merge of the next rank. Returns false if there is one of these two.
  bool Insert(Symbol left, Symbol right, Symbol merged);

  std::vector<std::string> bytes_;  // [symbol]
  std::vector<Symbol> results_;     // [rank]
  std::vector<Slot> slots_;         // open addressing, at most half full
  size_t mask_ = 0;
  int shift_ = 0;
};

}  // namespace torus::data
