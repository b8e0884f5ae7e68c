#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace torus::fuzz {
namespace {

using std::string_view_literals::operator""sv;

// What parsers stumble on: ends of ranges, and characters that mean something to one of them.
constexpr std::string_view kBytes = "\0\1\x7f\x80\xff\"{}[],:\\\n\r\t #.-09eNt<>/\xc3\xed\xf4"sv;
constexpr std::array<uint64_t, 12> kIntegers{
    0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 62, ~0ull};
constexpr std::array<std::string_view, 10> kNumbers{
    "-1",   "0",      "256",  "65537", "2147483648", "9223372036854775807", "18446744073709551616",
    "1e99", "1e-999", "1e999"};

bool IsDigit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

Bytes Mutator::Mutate(Bytes input, const Bytes& other) {
  const size_t changes = 1 + Below(4);
  for (size_t i = 0; i < changes; ++i) Change(input, other);
  return input;
}

void Mutator::Change(Bytes& bytes, const Bytes& other) {
  if (bytes.empty()) {
    bytes = other;
    return;
  }
  switch (Below(10)) {
    case 0:
    case 1:
      return FlipBit(bytes);
    case 2:
      return SetByte(bytes);
    case 3:
      return SetInteger(bytes);
    case 4:
      return SetDigits(bytes);
    case 5:
      return EraseRange(bytes);
    case 6:
      return DoubleRange(bytes);
    case 7:
      return RepeatByte(bytes);
    case 8:
      return Truncate(bytes);
    default:
      return Splice(bytes, other);
  }
}

void Mutator::FlipBit(Bytes& bytes) {
  bytes[Below(bytes.size())] ^= static_cast<uint8_t>(1u << Below(8));
}

void Mutator::SetByte(Bytes& bytes) {
  bytes[Below(bytes.size())] = static_cast<uint8_t>(kBytes[Below(kBytes.size())]);
}

void Mutator::SetInteger(Bytes& bytes) {
  const size_t width = size_t{1} << Below(4), at = Below(bytes.size());
  const bool little = Below(2) == 0;
  const uint64_t value = kIntegers[Below(kIntegers.size())] - Below(2);
  for (size_t i = 0; i < width && at + i < bytes.size(); ++i)
    bytes[at + i] = static_cast<uint8_t>(value >> 8 * (little ? i : width - 1 - i));
}

// The first number from a random place on.
void Mutator::SetDigits(Bytes& bytes) {
  const auto from = bytes.begin() + static_cast<int64_t>(Below(bytes.size()));
  const auto first = std::find_if(from, bytes.end(), IsDigit);
  if (first == bytes.end()) return FlipBit(bytes);
  const auto at = bytes.erase(first, std::find_if_not(first, bytes.end(), IsDigit));
  const std::string_view number = kNumbers[Below(kNumbers.size())];
  bytes.insert(at, number.begin(), number.end());
}

void Mutator::EraseRange(Bytes& bytes) {
  const size_t at = Below(bytes.size()), count = 1 + Below(std::min<size_t>(64, bytes.size() - at));
  bytes.erase(bytes.begin() + static_cast<int64_t>(at),
              bytes.begin() + static_cast<int64_t>(at + count));
}

void Mutator::DoubleRange(Bytes& bytes) {
  const size_t at = Below(bytes.size()), count = 1 + Below(std::min<size_t>(64, bytes.size() - at));
  const Bytes range(bytes.begin() + static_cast<int64_t>(at),
                    bytes.begin() + static_cast<int64_t>(at + count));
  bytes.insert(bytes.begin() + static_cast<int64_t>(at), range.begin(), range.end());
}

// Seldom very often: what nests without bound must not overflow a stack.
void Mutator::RepeatByte(Bytes& bytes) {
  const size_t at = Below(bytes.size()), count = Below(16) == 0 ? 20000 + Below(5000) : Below(64);
  const uint8_t byte =
      Below(2) == 0 ? bytes[at] : static_cast<uint8_t>(kBytes[Below(kBytes.size())]);
  bytes.insert(bytes.begin() + static_cast<int64_t>(at), count, byte);
}

void Mutator::Truncate(Bytes& bytes) { bytes.resize(Below(bytes.size())); }

void Mutator::Splice(Bytes& bytes, const Bytes& other) {
  if (other.empty()) return Truncate(bytes);
  const size_t at = Below(std::min(bytes.size(), other.size()));
  bytes.resize(at);
  bytes.insert(bytes.end(), other.begin() + static_cast<int64_t>(at), other.end());
}

}  // namespace torus::fuzz
