// IndexSet: a set of k of the numbers 0 to n - 1. Its wire format is a bit for each number or, if
// that is shorter, a list of numbers of ceil(log2 n) bits, at least one. n and k determine which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace torus::parallel {

class IndexSet {
 public:
  // The empty set of numbers below n.
  explicit IndexSet(int64_t n) : n_(n), words_(static_cast<size_t>((n + 63) / 64)) {}

  // One bit per number, in words of 64, lowest bit first. The bits from n on are 0.
  std::span<uint64_t> words() { return words_; }

  // kept[j] = in[the j-th number of the set].
  void Gather(std::span<const float> in, std::span<float> kept) const;
  // out[the j-th number of the set] = kept[j]; all other elements become 0.
  void Scatter(std::span<const float> kept, std::span<float> out) const;

  static size_t WireBytes(int64_t n, int64_t k);
  // Writes WireBytes(n, k) bytes; `k` is the size of the set.
  void Write(int64_t k, std::span<std::byte> wire) const;
  // Throws BadInput, tagged `name`, if the bytes are not a set of k numbers below n.
  static IndexSet Read(const char* name, int64_t n, int64_t k, std::span<const std::byte> wire);

 private:
  // Calls f(number, place) for each number, ascending.
  template <class F>
  void ForEach(const F& f) const;
  void ReadList(const char* name, int64_t k, std::span<const std::byte> wire);

  int64_t n_;
  std::vector<uint64_t> words_;
};

}  // namespace torus::parallel
