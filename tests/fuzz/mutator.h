// Damages bytes as fuzzers do, deterministically.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rng.h"

namespace torus::fuzz {

using Bytes = std::vector<uint8_t>;

// The n-th damaged input of a seed is a function of n alone.
class Mutator {
 public:
  explicit Mutator(uint64_t number) : stream_({.seed = number, .layer = HashName("mutator")}) {}

  // Applies one to four random changes: bits and bytes, integers of 1 to 8 bytes in either order of
  // bytes, numbers written in digits, ranges erased, doubled, repeated or cut off at the end, and
  // the end of `other` in the place of one's own. At most about 100 kB longer than `input`.
  Bytes Mutate(Bytes input, const Bytes& other);

 private:
  // Uniform in [0, bound).
  size_t Below(size_t bound) { return static_cast<size_t>(stream_.Below(next_++, bound)); }
  void Change(Bytes& bytes, const Bytes& other);
  void FlipBit(Bytes& bytes);
  void SetByte(Bytes& bytes);
  void SetInteger(Bytes& bytes);
  void SetDigits(Bytes& bytes);
  void EraseRange(Bytes& bytes);
  void DoubleRange(Bytes& bytes);
  void RepeatByte(Bytes& bytes);
  void Truncate(Bytes& bytes);
  void Splice(Bytes& bytes, const Bytes& other);

  RandomStream stream_;
  uint64_t next_ = 0;
};

}  // namespace torus::fuzz
