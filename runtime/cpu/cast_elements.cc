#include "runtime/cpu/cast_elements.h"

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "runtime/half_bits.h"

namespace torus::cpu {
namespace {

constexpr int64_t kWidth = 8;  // of a vector of the processor's own conversions

#ifdef __F16C__
// gcc makes no use of these instructions by itself.
int64_t WidenVectors(const Float16* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    _mm256_storeu_ps(to + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}

int64_t NarrowVectors(const float* from, int64_t count, Float16* to) {
  int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}
#else
int64_t WidenVectors(const Float16*, int64_t, float*) { return 0; }
int64_t NarrowVectors(const float*, int64_t, Float16*) { return 0; }
#endif

}  // namespace

void CastElements(const Float16* from, int64_t count, float* to) {
  for (int64_t i = WidenVectors(from, count, to); i < count; ++i)
    to[i] = HalfBitsToFloat(from[i].bits);
}

void CastElements(const float* from, int64_t count, Float16* to) {
  for (int64_t i = NarrowVectors(from, count, to); i < count; ++i)
    to[i].bits = FloatToHalfBits(from[i]);
}

}  // namespace torus::cpu
