// How the threads of a block share a row that they pass over several times: each takes packs of
// neighbouring elements and keeps the first of them in registers. Only for kernel sources.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "runtime/cuda/pack_floats.h"
#include "runtime/cuda/unroll.h"

namespace torus::cuda {

template <int kThreads, class Sum>
struct RowPacks {
  static constexpr int kPack = kPackOf<Sum>;
  using Values = Wide<Sum, kPack>;

  int n;         // elements of the row
  bool aligned;  // each row starts at a multiple of a pack: a pack is one load

  // Where this thread's pack p starts.
  __device__ int First(int p) const {
    return (p * kThreads + static_cast<int>(threadIdx.x)) * kPack;
  }

  // From element `first` on, which lies in the row; zeros beyond it.
  template <class T>
  __device__ Values Read(const T* row, int first) const {
    return ReadSome<kPack>(row + first, n - first, aligned);
  }
  template <class T>
  __device__ void Write(const Values& values, T* row, int first) const {
    WriteSome(values, row + first, n - first, aligned);
  }

  // The thread's first packs; zeros beyond the row.
  template <int held, class T>
  __device__ void Hold(const T* row, Values (&values)[held]) const {
    TORUS_UNROLL
    for (int p = 0; p < held; ++p) values[p] = First(p) < n ? Read(row, First(p)) : Values{};
  }
  // Calls f(p, first) for each held pack that the row has.
  template <int held, class F>
  __device__ void EachHeld(const F& f) const {
    TORUS_UNROLL
    for (int p = 0; p < held; ++p)
      if (First(p) < n) f(p, First(p));
  }
  // Calls f(values, first) for all of the thread's packs; reads again those that are not held.
  template <int held, class T, class F>
  __device__ void Each(const T* row, const Values (&values)[held], const F& f) const {
    EachHeld<held>([&](int p, int first) { f(values[p], first); });
    for (int p = held; First(p) < n; ++p) f(Read(row, First(p)), First(p));
  }
  __device__ bool Has(int first, int k) const { return first + k < n; }
};

// Whether rows of n elements can be read by packs of the sums' type: each tensor (null: none)
// starts at one, and rows are as long as whole ones.
template <class Sum>
bool RowsByPacks(int64_t n, std::initializer_list<const void*> tensors) {
  bool aligned = n % kPackOf<Sum> == 0;
  for (const void* elements : tensors) aligned &= reinterpret_cast<uintptr_t>(elements) % 16 == 0;
  return aligned;
}

}  // namespace torus::cuda
