// A byte-level BPE of two merges, as files.
#pragma once

#include <string>
#include <vector>

#include "data/text/byte_symbols.h"
#include "tests/data/temp_file.h"

namespace torus::data {

// vocab.json and merges.txt: token b is byte b, 256 "ab", 257 " ab", then `specials`.
inline void WriteSmallBpe(const std::string& dir, const std::vector<std::string>& specials) {
  std::string json;
  int number = 0;
  const auto add = [&](const std::string& token) {
    const bool escape = token == "\"" || token == "\\";
    json +=
        fmt::format("{}\"{}{}\": {}", number == 0 ? "{" : ", ", escape ? "\\" : "", token, number);
    ++number;
  };
  for (int byte = 0; byte < 256; ++byte) add(SymbolOfByte(static_cast<uint8_t>(byte)));
  add("ab");
  add("\u0120ab");
  for (const std::string& special : specials) add(special);
  WriteText(dir, "vocab.json", json + "}");
  WriteText(dir, "merges.txt", "#version: 0.2\na b\n\u0120 ab\n");
}

}  // namespace torus::data
