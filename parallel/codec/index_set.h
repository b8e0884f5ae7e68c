// A set of k of the numbers 0 to n - 1, on the wire: as a bit for each number, or where that is
// shorter as a list of numbers of ceil(log2 n) bits. Which of the two follows from n and k.
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

  // Words of 64 numbers each, lowest bit first. The bits at n and beyond are 0.
  std::span<uint64_t> words() { return words_; }

  // kept[j] = in[the j-th number], for as many as there are.
  void Gather(std::span<const float> in, std::span<float> kept) const;
  // out[the j-th number] = kept[j]; all others become 0.
  void Scatter(std::span<const float> kept, std::span<float> out) const;

  static size_t WireBytes(int64_t n, int64_t k);
  // Writes WireBytes(n, k), k the size of the set.
  void Write(int64_t k, std::span<std::byte> wire) const;
  // BadInput, tagged `name`, where those bytes are no set of k numbers below n.
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
