// Small kernels whose accesses are known.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/device.h"

namespace torus::cuda {

// to[i] = from[i step], i < count, an element a thread.
void CopyEvery(const float* from, float* to, int64_t step, int64_t count, StreamHandle stream,
               std::string_view op = "sample");
// to[i] = from[i] by `blocks` blocks of 256 threads, a kernel whose first parameter has 4 bytes.
void CopyBlocks(uint32_t blocks, const float* from, float* to, StreamHandle stream);
// to[i] = from[i step] likewise, by a kernel whose last parameter has 4 bytes.
void CopyBlocksEvery(uint32_t blocks, const float* from, float* to, uint32_t step,
                     StreamHandle stream);
// to[i] = from[2 i] likewise if `twice`, else from[i]: two kernels with the same parameters.
void CopyFixed(bool twice, uint32_t blocks, const float* from, float* to, StreamHandle stream);
// The same without a step, 16 bytes a thread; count is a multiple of 4.
void CopyPacks(const float* from, float* to, int64_t count, StreamHandle stream);
// to[i] = from[0].
void CopyFirst(const float* from, float* to, int64_t count, StreamHandle stream);
// to[i] = sum of from[i + turn stride], in a loop without stores or branches.
void SumColumn(const float* from, float* to, int64_t stride, int64_t turns, StreamHandle stream);
// The same, where each turn stores the sum so far.
void StoreSums(const float* from, float* to, int64_t stride, int64_t turns, StreamHandle stream);
// to[i] = the sum over the warp, by five exchanges; `count` is a multiple of 32, as below.
void SumWarps(const float* from, float* to, int64_t count, StreamHandle stream);
// Four products by the tensor cores, of matrices that hold from[i].
void MultiplyWarps(const uint32_t* from, float* to, int64_t count, StreamHandle stream);
// sums[g] = the sum of group g's 256 of_group elements, which its blocks add up to parts, a number
// a block, and the last of them these, one after another. `count` elements; `arrivals` are zero.
void SumGroups(const float* from, float* parts, float* sums, uint32_t* arrivals, int64_t of_group,
               int64_t count, StreamHandle stream);
// to[i] = from[i] / by, in 64 bits; or from[i] + by.
void DivideBy(const int64_t* from, int64_t* to, int64_t by, int64_t count, StreamHandle stream);
void AddTo(const int64_t* from, int64_t* to, int64_t by, int64_t count, StreamHandle stream);

}  // namespace torus::cuda
