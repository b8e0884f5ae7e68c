// The code points of Unicode 14 and the random strings of tests/golden/make_bpe.py.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "data/text/utf8.h"

namespace torus::data {

// Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014).
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t Below(uint64_t bound) {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return (z ^ z >> 31) % bound;
  }

 private:
  uint64_t state_;
};

// The assigned code points, surrogates left out.
class Unicode14 {
 public:
  using Range = std::pair<char32_t, char32_t>;  // first and last

  Unicode14() {
    std::ifstream file("tests/golden/unicode14.tsv");
    for (uint32_t first, last; file >> std::hex >> first >> last;) {
      ranges_.emplace_back(first, last);
      size_ += last - first + 1;
    }
  }
  const std::vector<Range>& ranges() const { return ranges_; }
  uint64_t size() const { return size_; }
  char32_t At(uint64_t index) const {
    for (const auto& [first, last] : ranges_) {
      if (index <= last - first) return first + static_cast<char32_t>(index);
      index -= last - first + 1;
    }
    return 0;
  }

 private:
  std::vector<Range> ranges_;
  uint64_t size_ = 0;
};

inline const std::vector<std::string>& AwkwardStrings() {
  static const std::vector<std::string> strings{"'s",         "'t",
                                                "'re",        "'ve",
                                                "'m",         "'ll",
                                                "'d",         "'",
                                                "'S",         "\u2019s",
                                                " ",          "  ",
                                                "\t",         "\n",
                                                "\r\n",       "\x0b",
                                                "\x0c",       "\x1c",
                                                "\x1f",       "\xc2\x85",
                                                "\u00a0",     "\u1680",
                                                "\u180e",     "\u2000",
                                                "\u200a",     "\u200b",
                                                "\u200d",     "\u2028",
                                                "\u2029",     "\u202f",
                                                "\u205f",     "\u3000",
                                                "\ufeff",     std::string(1, '\0'),
                                                "1",          "\u0661",
                                                "\u00bd",     "\u2167",
                                                "e\u0301",    "\u0345",
                                                "\u00df",     "\U0001f469\u200d\U0001f4bb",
                                                "\U0001f1e6", "\ud7a3",
                                                "<mask>",     "<|endoftext|>"};
  return strings;
}

inline std::string RandomString(const Unicode14& unicode, SplitMix64* random) {
  std::string out;
  const uint64_t count = random->Below(48);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t kind = random->Below(8);
    if (kind < 3) {
      out.push_back(static_cast<char>(32 + random->Below(95)));
    } else if (kind < 5) {
      out += AwkwardStrings()[random->Below(AwkwardStrings().size())];
    } else if (kind < 6) {
      const char letter = static_cast<char>(97 + random->Below(26));
      out += std::string(1 + random->Below(4), letter);
    } else {
      AppendUtf8(unicode.At(random->Below(unicode.size())), &out);
    }
  }
  return out;
}

}  // namespace torus::data
