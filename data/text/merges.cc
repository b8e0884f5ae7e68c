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
  const auto add = [&](const std::string& bytes) {
    const bool fresh = known.emplace(bytes, static_cast<Symbol>(bytes_.size())).second;
    if (fresh) bytes_.push_back(bytes);
    return fresh;
  };
  for (size_t byte = 0; byte < kByteSymbols; ++byte) add(std::string(1, static_cast<char>(byte)));
  const MergeReader reader(path);
  for (const Line& line : lines) {
    const auto [left, right] = reader.Halves(line);
    const auto l = known.find(left), r = known.find(right);
    Require(l != known.end() && r != known.end(), path,
            "line {}: requires strings that lines above make, got '{}'", line.number,
            line.text.substr(0, 80));
    const Symbol left_symbol = l->second, right_symbol = r->second;  // `add` may move `known`
    Require(add(left + right), path, "line {}: makes '{}', which a line above does", line.number,
            line.text.substr(0, 80));
    Insert(left_symbol, right_symbol, static_cast<Symbol>(bytes_.size() - 1));
  }
}

void Merges::Insert(Symbol left, Symbol right, Symbol merged) {
  const uint64_t key = uint64_t{left} << 32 | right;
  size_t i = SlotOf(key);
  while (slots_[i & mask_].merged != kNoSymbol) ++i;
  slots_[i & mask_] = {key, merged};
}

void Merges::Apply(std::string_view piece, std::vector<Symbol>* symbols) const {
  symbols->clear();
  for (const char byte : piece) symbols->push_back(static_cast<uint8_t>(byte));
  ApplyMerges([this](Symbol left, Symbol right) { return Find(left, right); }, symbols);
}

}  // namespace torus::data
