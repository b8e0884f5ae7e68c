#include "data/text/merges.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "data/files/lines.h"
#include "data/text/apply_merges.h"
#include "data/text/byte_symbols.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

// The lines, as pairs of strings of bytes.
class MergeReader {
 public:
  explicit MergeReader(const std::string& path) : path_(path) {}

  // The bytes of one half of a line.
  std::string Half(std::string_view symbols, size_t line) const {
    const auto bytes = BytesOfSymbols(symbols);
    Require(bytes.has_value() && !bytes->empty(), path_,
            "line {}: requires two strings of byte symbols with a space between", line);
    return *bytes;
  }

  std::pair<std::string, std::string> Halves(const Line& line) const {
    const size_t space = std::min(line.text.find(' '), line.text.size());
    const std::string_view right = line.text.substr(std::min(space + 1, line.text.size()));
    return {Half(line.text.substr(0, space), line.number), Half(right, line.number)};
  }

 private:
  const std::string& path_;
};

}  // namespace

Merges::Merges(std::string_view text, const std::string& path) {
  std::vector<Line> lines = LinesOf(text);
  if (!lines.empty() && lines[0].text.starts_with("#version")) lines.erase(lines.begin());
  Require(!lines.empty() && lines.size() <= kMost, path, "requires 1 to {} merges, got {}", kMost,
          lines.size());
  const size_t slots = std::bit_ceil(2 * lines.size());
  slots_.resize(slots);
  mask_ = slots - 1;
  shift_ = 64 - std::countr_zero(slots);
  std::unordered_map<std::string, Symbol> known;
  const auto symbol_of = [&](const std::string& bytes) {
    const auto [at, fresh] = known.emplace(bytes, static_cast<Symbol>(bytes_.size()));
    if (fresh) bytes_.push_back(bytes);
    return at->second;
  };
  for (size_t byte = 0; byte < kByteSymbols; ++byte)
    symbol_of(std::string(1, static_cast<char>(byte)));
  const MergeReader reader(path);
  for (const Line& line : lines) {
    const auto [left, right] = reader.Halves(line);
    const Symbol l = symbol_of(left), r = symbol_of(right);
    Require(Insert(l, r, symbol_of(left + right)), path,
            "line {}: requires each merge once, got '{}' again", line.number,
            line.text.substr(0, 80));
  }
}

bool Merges::Insert(Symbol left, Symbol right, Symbol merged) {
  const uint64_t key = uint64_t{left} << 32 | right;
  size_t i = SlotOf(key);
  for (; slots_[i & mask_].rank != kNoRank; ++i)
    if (slots_[i & mask_].key == key) return false;
  slots_[i & mask_] = {key, static_cast<Rank>(results_.size())};
  results_.push_back(merged);
  return true;
}

void Merges::Apply(std::string_view piece, std::vector<Symbol>* symbols) const {
  symbols->clear();
  for (const char byte : piece) symbols->push_back(static_cast<uint8_t>(byte));
  ApplyMerges([this](Symbol left, Symbol right) { return Find(left, right); },
              [this](Rank rank) { return ResultOf(rank); }, symbols);
}

}  // namespace torus::data
