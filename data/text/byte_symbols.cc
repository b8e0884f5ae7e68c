#include "data/text/byte_symbols.h"

#include <array>

#include "data/text/utf8.h"

namespace torus::data {
namespace {

constexpr char32_t kBase = 0x100;  // the first character that stands for another byte

bool StandsForItself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

struct Table {
  std::array<std::string, 256> symbols;  // [byte]
  std::array<int, 2 * kBase> bytes;      // [character], -1 where it stands for none
  Table() {
    bytes.fill(-1);
    char32_t next = kBase;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t symbol = StandsForItself(byte) ? static_cast<char32_t>(byte) : next++;
      AppendUtf8(symbol, &symbols[byte]);
      bytes[symbol] = byte;
    }
  }
};

const Table& Symbols() {
  static const Table table;
  return table;
}

}  // namespace

const std::string& SymbolOfByte(uint8_t byte) { return Symbols().symbols[byte]; }

std::string SymbolsOfBytes(std::string_view bytes) {
  std::string symbols;
  for (const char byte : bytes) symbols += SymbolOfByte(static_cast<uint8_t>(byte));
  return symbols;
}

std::optional<std::string> BytesOfSymbols(std::string_view symbols) {
  std::string bytes;
  while (!symbols.empty()) {
    const CodePoint symbol = FirstCodePoint(symbols);
    if (symbol.bytes == 0 || symbol.value >= 2 * kBase) return std::nullopt;
    const int byte = Symbols().bytes[symbol.value];
    if (byte < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(byte));
    symbols.remove_prefix(symbol.bytes);
  }
  return bytes;
}

}  // namespace torus::data
