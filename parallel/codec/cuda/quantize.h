// Sort quantization kernels: values to packed codes and back. For kernel sources only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "parallel/codec/bucket_step.h"
#include "parallel/codec/cuda/eight.h"
#include "parallel/codec/cuda/scratch_layout.h"
#include "parallel/codec/cuda/sort_key.h"
#include "runtime/element_cast.h"
//
#include "runtime/cuda/block.h"

namespace torus::parallel::cuda {

inline constexpr int kQuantizeThreads = 256;

// Eight codes of kBits bits.
template <int kBits>
struct alignas(kBits % 8 == 0 ? 8 : 4) Packed {
  uint32_t word[kBits / 4];
};

template <int kBits>
__device__ Packed<kBits> Pack(const uint32_t (&codes)[8]) {
  Packed<kBits> packed{};
  for (int j = 0; j < 8; ++j) {
    const int at = j * kBits, shift = at % 32;
    packed.word[at / 32] |= codes[j] << shift;
    if (shift + kBits > 32) packed.word[at / 32 + 1] |= codes[j] >> (32 - shift);
  }
  return packed;
}

template <int kBits>
__device__ uint32_t CodeAt(const Packed<kBits>& packed, int j) {
  const int at = j * kBits, shift = at % 32;
  uint32_t code = packed.word[at / 32] >> shift;
  if (shift + kBits > 32) code |= packed.word[at / 32 + 1] << (32 - shift);
  return code & ((1u << kBits) - 1);
}

// The bytes of fewer than eight codes.
template <int kBits>
__device__ void StoreSome(const Packed<kBits>& packed, int64_t codes, uint8_t* to) {
  for (int64_t byte = 0; byte < (codes * kBits + 7) / 8; ++byte)
    to[byte] = static_cast<uint8_t>(packed.word[byte / 4] >> (8 * (byte % 4)));
}

template <int kBits>
__device__ Packed<kBits> LoadSome(const uint8_t* from, int64_t codes) {
  Packed<kBits> packed{};
  for (int64_t byte = 0; byte < (codes * kBits + 7) / 8; ++byte)
    packed.word[byte / 4] |= uint32_t{from[byte]} << (8 * (byte % 4));
  return packed;
}

// The value at a rank. A zero has the sign of the value that was found.
template <class T>
__device__ float ValueAtRank(const T* values, const Search& search, int rank) {
  const uint32_t key = search.prefix[search.slot[rank]];
  if (key != kKeyOfZero) return ValueOf(key);
  return std::bit_cast<float>(FloatBits(values[search.index[rank]]));
}

// Runs in one warp with a lane for each bucket. Writes the cuts, the header of `out`, and the
// number of bytes written.
template <class T>
__global__ void MakeCutsKernel(const T* values, int64_t count, SortqFormat format,
                               const Search* search, Cuts* cuts, uint8_t* out, int64_t* written) {
  const int k = static_cast<int>(threadIdx.x);
  const bool finite = search->non_finite == 0;
  float minimum = 0, step = 0;
  bool wide = false;
  if (finite && k < format.buckets() && count > 0) {
    const float least = ValueAtRank(values, *search, 2 * k);
    if (!format.IsEmpty(count, k)) {
      const float greatest = ValueAtRank(values, *search, 2 * k + 1);
      minimum = least;
      step = BucketStep(least, greatest, format.step_bits());
      wide = !FitsFloat(least, greatest, step);
    }
    cuts->least[k] = uint64_t{KeyOf(std::bit_cast<uint32_t>(least))} << 32 | search->index[2 * k];
  }
  wide = __any_sync(torus::cuda::kWholeWarp, wide);
  uint32_t* const header = reinterpret_cast<uint32_t*>(out);
  if (k < format.buckets()) {
    cuts->minimum[k] = minimum;
    cuts->step[k] = step;
    header[2 + 2 * k] = std::bit_cast<uint32_t>(minimum);
    header[3 + 2 * k] = std::bit_cast<uint32_t>(step);
  }
  if (k > 0) return;
  cuts->wide = wide;
  header[0] = static_cast<uint32_t>(count);
  header[1] = static_cast<uint32_t>(count >> 32);
  *written = finite ? static_cast<int64_t>(format.EncodedBytes(count)) : 0;
}

// The cuts in a block's shared memory. Codes are computed as in quantize_kernel.h, with the same
// roundings.
template <int kBits>
struct Quantizer {
  static constexpr SortqFormat kFormat{kBits};
  uint64_t least[kFormat.buckets()];
  float minimum[kFormat.buckets()], step[kFormat.buckets()], inverse[kFormat.buckets()];

  // Called by all threads of the block, before a barrier.
  __device__ void Load(const Cuts& cuts) {
    const int k = static_cast<int>(threadIdx.x);
    if (k >= kFormat.buckets()) return;
    least[k] = cuts.least[k];
    minimum[k] = cuts.minimum[k];
    step[k] = cuts.step[k];
    inverse[k] = step[k] > 0 ? 1 / step[k] : 0;
  }

  __device__ uint32_t Code(uint32_t bits, int64_t index, bool wide) const {
    const uint64_t place = uint64_t{KeyOf(bits)} << 32 | static_cast<uint64_t>(index);
    int bucket = 0;
    for (int half = kFormat.buckets() / 2; half > 0; half /= 2)
      if (place >= least[bucket + half]) bucket += half;
    const float value = std::bit_cast<float>(bits);
    const uint32_t number = wide ? WidePoint(value, bucket) : Point(value, bucket);
    return static_cast<uint32_t>(bucket) << kFormat.step_bits() | number;
  }

 private:
  __device__ uint32_t Point(float value, int bucket) const {
    return static_cast<uint32_t>(
        static_cast<int>(rintf((value - minimum[bucket]) * inverse[bucket])));
  }
  __device__ uint32_t WidePoint(float value, int bucket) const {
    if (!(step[bucket] > 0)) return 0;
    const double offset = double{value} - double{minimum[bucket]};
    return static_cast<uint32_t>(rint(offset / double{step[bucket]}));
  }
};

// Packs the codes of all values to `out`. A thread packs eight values at a time into whole bytes.
template <class T, int kBits>
__global__ void QuantizeKernel(const T* values, int64_t count, bool aligned, const Search* search,
                               const Cuts* cuts, uint8_t* out) {
  __shared__ Quantizer<kBits> quantizer;
  if (search->non_finite != 0) return;
  const bool wide = cuts->wide != 0;
  quantizer.Load(*cuts);
  __syncthreads();
  const int64_t stride = int64_t{gridDim.x} * kQuantizeThreads;
  for (int64_t i = int64_t{blockIdx.x} * kQuantizeThreads + threadIdx.x; 8 * i < count;
       i += stride) {
    const int64_t first = 8 * i, left = count - first;
    uint32_t codes[8] = {};
    if (left >= 8) {
      const Eight<T> some = LoadEight(values + first, aligned);
      for (int j = 0; j < 8; ++j) codes[j] = quantizer.Code(FloatBits(some.at[j]), first + j, wide);
      reinterpret_cast<Packed<kBits>*>(out)[i] = Pack<kBits>(codes);
    } else {
      for (int64_t j = 0; j < left; ++j)
        codes[j] = quantizer.Code(FloatBits(values[first + j]), first + j, wide);
      StoreSome(Pack<kBits>(codes), left, out + i * kBits);
    }
  }
}

// Whether the header is valid for `count` values: each minimum and step is finite, and no step is
// negative.
__device__ inline bool IsHeaderOf(const uint32_t* header, int64_t count, int buckets) {
  bool fits = (uint64_t{header[1]} << 32 | header[0]) == static_cast<uint64_t>(count);
  for (int k = 0; k < buckets; ++k) {
    const float minimum = std::bit_cast<float>(header[2 + 2 * k]);
    const float step = std::bit_cast<float>(header[3 + 2 * k]);
    fits = fits && minimum - minimum == 0 && step - step == 0 && step >= 0;
  }
  return fits;
}

// Decodes to minimum + step * point, rounded once as in quantize_kernel.h, then converted to T. All
// values are NaN if the header is invalid.
template <class T, int kBits>
__global__ void DequantizeKernel(const uint8_t* in, int64_t count, T* out, bool aligned) {
  constexpr SortqFormat kFormat{kBits};
  __shared__ float minimum[kFormat.buckets()], step[kFormat.buckets()];
  const uint32_t* const header = reinterpret_cast<const uint32_t*>(in);
  const int k = static_cast<int>(threadIdx.x);
  if (k < kFormat.buckets()) {
    minimum[k] = IsHeaderOf(header, count, kFormat.buckets())
                     ? std::bit_cast<float>(header[2 + 2 * k])
                     : std::numeric_limits<float>::quiet_NaN();
    step[k] = std::bit_cast<float>(header[3 + 2 * k]);
  }
  __syncthreads();
  const uint8_t* const packed = in + kFormat.HeaderBytes();
  const auto value = [&](const Packed<kBits>& codes, int j) {
    const uint32_t code = CodeAt(codes, j), bucket = code >> kFormat.step_bits();
    const float point = static_cast<float>(code & ((1u << kFormat.step_bits()) - 1));
    return ElementCast<T, float>()(fmaf(point, step[bucket], minimum[bucket]));
  };
  const int64_t stride = int64_t{gridDim.x} * kQuantizeThreads;
  for (int64_t i = int64_t{blockIdx.x} * kQuantizeThreads + k; 8 * i < count; i += stride) {
    const int64_t first = 8 * i, left = count - first;
    if (left >= 8) {
      const Packed<kBits> codes = reinterpret_cast<const Packed<kBits>*>(packed)[i];
      Eight<T> values;
      for (int j = 0; j < 8; ++j) values.at[j] = value(codes, j);
      StoreEight(values, out + first, aligned);
    } else {
      const Packed<kBits> codes = LoadSome<kBits>(packed + i * kBits, left);
      for (int j = 0; j < left; ++j) out[first + j] = value(codes, j);
    }
  }
}

// The number of thread blocks for `count` values.
inline unsigned QuantizeBlocks(int64_t count) {
  constexpr int64_t kValuesOfBlock = 8 * kQuantizeThreads, kMostBlocks = 2048;
  return static_cast<unsigned>(std::min(kMostBlocks, (count - 1) / kValuesOfBlock + 1));
}

}  // namespace torus::parallel::cuda
