// Products of 16-bit matrices by the tensor cores, which a warp computes together, and loads of
// their operands from shared memory. For kernel sources only; GPUs from sm_80 on.
//
// Each lane holds a few elements of each matrix (PTX ISA, "Matrix fragments for mma.m16n8k16"). Two
// 16-bit elements share a word, the first in its lower half. With g = lane / 4 and t = lane % 4:
//
//   A (16 x 16)  word i: row g + 8 (i % 2), columns 2t + 8 (i / 2) and the next one
//   B (16 x 8)   word i: rows 2t + 8 i and the next one, column g
//   C (16 x 8)   at[i]:  row g + 8 (i / 2), column 2t + i % 2
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/dtype.h"
//
#include "runtime/cuda/kernel.h"
#ifndef __CUDACC__
#include "runtime/emulated_gpu/tensor_core.h"
#endif

namespace torus::cuda {

struct FragmentA {
  uint32_t word[4];
};
struct FragmentB {
  uint32_t word[2];
};
struct FragmentC {
  float at[4];
};

// c += a b, summed in f32. PTX leaves the order of the sum open; emulated, it goes through the 16
// products one by one. T is BFloat16 or Float16. All lanes of the warp must call it.
template <class T>
__device__ void AddProduct(const FragmentA& a, const FragmentB& b, FragmentC& c) {
  static_assert(std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>);
#ifndef __CUDACC__
  emulated_gpu::AddProduct<T>(a.word, b.word, c.at);
#else
  if constexpr (std::is_same_v<T, BFloat16>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.at[0]), "+f"(c.at[1]), "+f"(c.at[2]), "+f"(c.at[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]),
          "r"(b.word[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c.at[0]), "+f"(c.at[1]), "+f"(c.at[2]), "+f"(c.at[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]),
          "r"(b.word[1]));
#endif
}

// Loads four matrices of 8 x 8 16-bit elements from shared memory. `row` points to eight
// neighbouring elements, aligned to 16 bytes: row lane % 8 of matrix lane / 8. Word i is of matrix
// i: elements 2t and 2t + 1 of row g. All lanes of the warp must call it.
__device__ inline void LoadMatrices(const void* row, uint32_t (&word)[4]) {
#ifndef __CUDACC__
  emulated_gpu::LoadMatrices(row, word);
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

// The same of the matrices' transposes: word i is elements 2t and 2t + 1 of column g.
__device__ inline void LoadTransposedMatrices(const void* row, uint32_t (&word)[4]) {
#ifndef __CUDACC__
  emulated_gpu::LoadTransposedMatrices(row, word);
#else
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
               : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(row)))
               : "memory");
#endif
}

}  // namespace torus::cuda
