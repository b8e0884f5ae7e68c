// The tensor cores' instructions (runtime/cuda/tensor_core.h) on an emulated GPU, element by
// element by the lane tables of the PTX ISA. For one-dimensional blocks. Neither
// inlined nor cloned, so that a tool can tell them from a kernel's code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

#include "runtime/element_cast.h"
#include "runtime/emulated_gpu/block.h"
#include "runtime/emulated_gpu/coordinates.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {

// Calls f(values), where value i is what lane i of the calling thread's warp passed. All lanes must
// call it at the same place.
template <class Value, class F>
void WithWarp(const Value& own, std::source_location where, const F& f) {
  const EmulatedCode emulated;
  static thread_local Value values[32][warpSize];  // of each warp of a block
  Value* const of_warp = values[threadIdx.x / warpSize];
  of_warp[Lane()] = own;
  ExchangeInWarp(0xffffffffu, 0, 0, false, where);
  f(of_warp);
  ExchangeInWarp(0xffffffffu, 0, 0, false, where);  // the next call writes there
}

// The elements in a lane's words of the operands, two of each.
struct ProductOperands {
  float a[4][2], b[2][2];
};

template <class T, size_t words>
void Widen(const uint32_t (&from)[words], float (&to)[words][2]) {
  for (size_t i = 0; i < words; ++i)
    for (int half = 0; half < 2; ++half) {
      T element;
      element.bits = static_cast<uint16_t>(from[i] >> 16 * half);
      to[i][half] = ElementCast<float, T>()(element);
    }
}

// c += a b; the products are added to c one after another, in f32.
template <class T>
[[gnu::noipa]] void AddProduct(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&c)[4],
                               std::source_location where = std::source_location::current()) {
  ProductOperands own;
  Widen<T>(a, own.a);
  Widen<T>(b, own.b);
  WithWarp(own, where, [&](const ProductOperands* lanes) {
    const int lane = Lane();
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + 8 * (i / 2), column = 2 * (lane % 4) + i % 2;
      for (int k = 0; k < 16; ++k) {
        const int pair = k % 8 / 2;  // which lane of four has the two words
        const float left = lanes[4 * (row % 8) + pair].a[row / 8 + 2 * (k / 8)][k % 2];
        c[i] += left * lanes[4 * column + pair].b[k / 8][k % 2];
      }
    }
  });
}

using MatrixRow = const uint16_t*;

// A row's address as ldmatrix takes it.
inline MatrixRow CheckedRow(const void* row) {
  TORUS_CHECK(reinterpret_cast<uintptr_t>(row) % 16 == 0,
              "ldmatrix needs rows at multiples of 16 bytes, got {}", row);
  return static_cast<MatrixRow>(row);
}

[[gnu::noipa]] inline void LoadMatrices(
    const void* row, uint32_t (&word)[4],
    std::source_location where = std::source_location::current()) {
  WithWarp(CheckedRow(row), where, [&](const MatrixRow* rows) {
    const int pair = 2 * (Lane() % 4);
    for (int i = 0; i < 4; ++i) {
      const MatrixRow from = rows[8 * i + Lane() / 4];
      word[i] = from[pair] | uint32_t{from[pair + 1]} << 16;
    }
  });
}

[[gnu::noipa]] inline void LoadTransposedMatrices(
    const void* row, uint32_t (&word)[4],
    std::source_location where = std::source_location::current()) {
  WithWarp(CheckedRow(row), where, [&](const MatrixRow* rows) {
    const int column = Lane() / 4, pair = 2 * (Lane() % 4);
    for (int i = 0; i < 4; ++i)
      word[i] = rows[8 * i + pair][column] | uint32_t{rows[8 * i + pair + 1][column]} << 16;
  });
}

}  // namespace torus::emulated_gpu
