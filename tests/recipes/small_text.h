// Small texts to train on, in files.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace torus::recipes::testing {

// "abcd", `times` in a row: a letter says which comes next.
inline void WriteAbcd(const std::string& path, int times) {
  std::ofstream file(path);
  for (int i = 0; i < times; ++i) file << "abcd";
}

// So many letters, of several kinds: number i is that of i^2 modulo 26.
inline void WriteLetters(const std::string& path, int64_t count) {
  std::ofstream file(path);
  for (int64_t i = 0; i < count; ++i) file << static_cast<char>('a' + i * i % 26);
}

}  // namespace torus::recipes::testing
