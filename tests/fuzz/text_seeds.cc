#include "tests/fuzz/text_seeds.h"

#include "data/text/byte_symbols.h"
#include "data/text/merges.h"
#include "runtime/error.h"

namespace torus::fuzz {

std::string VocabularyJson() {
  const data::Merges merges(kMerges, "merges");
  std::string json = "{";
  for (data::Symbol symbol = 0; symbol < merges.symbols(); ++symbol) {
    std::string name;
    for (const char c : data::SymbolsOfBytes(merges.BytesOf(symbol)))
      name += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    json += fmt::format("{}\"{}\": {}", symbol == 0 ? "" : ", ", name, symbol);
  }
  return json + "}";
}

}  // namespace torus::fuzz
