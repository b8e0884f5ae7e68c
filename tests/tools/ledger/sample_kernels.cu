#include "runtime/dtype.h"
#include "tests/tools/ledger/sample_kernels.h"
//
#include "runtime/cuda/arrivals.h"
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/pack.h"
#include "runtime/cuda/rows.h"
#include "runtime/cuda/tensor_core.h"

namespace torus::cuda {
namespace {

struct Every {
  const float* from;
  float* to;
  int64_t step;
  __device__ void operator()(int64_t i) const { to[i] = from[i * step]; }
};

struct Packs {
  const float* from;
  float* to;
  __device__ void operator()(int64_t i) const {
    StorePack(LoadPack<4>(from + 4 * i, 4), to + 4 * i, 4);
  }
};

struct First {
  const float* from;
  float* to;
  __device__ void operator()(int64_t i) const { to[i] = from[0]; }
};

struct Column {
  const float* from;
  float* to;
  int64_t stride, turns;
  __device__ void operator()(int64_t i) const {
    float sum = 0;
    for (int64_t turn = 0; turn < turns; ++turn) sum += from[turn * stride + i];
    to[i] = sum;
  }
};

struct Sums {
  const float* from;
  float* to;
  int64_t stride, turns;
  __device__ void operator()(int64_t i) const {
    float sum = 0;
    for (int64_t turn = 0; turn < turns; ++turn) {
      sum += from[turn * stride + i];
      to[turn * stride + i] = sum;
    }
  }
};

struct WarpSums {
  const float* from;
  float* to;
  __device__ void operator()(int64_t i) const { to[i] = CombineLanes<32>(from[i], Plus()); }
};

struct Products {
  const uint32_t* from;
  float* to;
  __device__ void operator()(int64_t i) const {
    const uint32_t word = from[i];
    FragmentC sums{};
    for (int turn = 0; turn < 4; ++turn)
      AddProduct<BFloat16>({{word, word, word, word}}, {{word, word}}, sums);
    to[i] = sums.at[0];
  }
};

struct GroupSums {
  const float* from;
  float *parts, *sums;
  uint32_t* arrivals;
  int64_t of_group;
  template <int kThreads>
  __device__ void Run(int64_t block) const {
    const float sum = CombineBlock<kThreads>(from[block * kThreads + threadIdx.x], Plus());
    if (threadIdx.x == 0) parts[block] = sum;
    const int64_t group = block / of_group;
    if (!ArrivesLast(arrivals, group, of_group)) return;
    float all = 0;
    for (int64_t part = 0; part < of_group; ++part) all += parts[group * of_group + part];
    if (threadIdx.x == 0) sums[group] = all;
  }
};

struct Quotient {
  const int64_t* from;
  int64_t *to, by;
  __device__ void operator()(int64_t i) const { to[i] = from[i] / by; }
};

struct Added {
  const int64_t* from;
  int64_t *to, by;
  __device__ void operator()(int64_t i) const { to[i] = from[i] + by; }
};

__global__ void CountedKernel(uint32_t blocks, Every body) {
  if (blockIdx.x < blocks) body(int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
}

__global__ void StridedKernel(const float* from, float* to, uint32_t step) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  to[i] = from[i * step];
}

template <int kStep>
__global__ void FixedKernel(const float* from, float* to) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  to[i] = from[i * kStep];
}

}  // namespace

void CopyEvery(const float* from, float* to, int64_t step, int64_t count, StreamHandle stream,
               std::string_view op) {
  ForEach(op, count, stream, Every{from, to, step});
}
void CopyBlocks(uint32_t blocks, const float* from, float* to, StreamHandle stream) {
  Launch("sample", blocks, 256, 0, stream, CountedKernel, blocks, Every{from, to, 1});
}
void CopyBlocksEvery(uint32_t blocks, const float* from, float* to, uint32_t step,
                     StreamHandle stream) {
  Launch("sample", blocks, 256, 0, stream, StridedKernel, from, to, step);
}
void CopyFixed(bool twice, uint32_t blocks, const float* from, float* to, StreamHandle stream) {
  const auto kernel = twice ? FixedKernel<2> : FixedKernel<1>;
  Launch("sample", blocks, 256, 0, stream, kernel, from, to);
}
void CopyPacks(const float* from, float* to, int64_t count, StreamHandle stream) {
  ForEach("sample", count / 4, stream, Packs{from, to});
}
void CopyFirst(const float* from, float* to, int64_t count, StreamHandle stream) {
  ForEach("sample", count, stream, First{from, to});
}
void SumColumn(const float* from, float* to, int64_t stride, int64_t turns, StreamHandle stream) {
  ForEach("sample", kForEachThreads, stream, Column{from, to, stride, turns});
}
void StoreSums(const float* from, float* to, int64_t stride, int64_t turns, StreamHandle stream) {
  ForEach("sample", kForEachThreads, stream, Sums{from, to, stride, turns});
}
void SumWarps(const float* from, float* to, int64_t count, StreamHandle stream) {
  ForEach("sample", count, stream, WarpSums{from, to});
}
void MultiplyWarps(const uint32_t* from, float* to, int64_t count, StreamHandle stream) {
  ForEach("sample", count, stream, Products{from, to});
}
void SumGroups(const float* from, float* parts, float* sums, uint32_t* arrivals, int64_t of_group,
               int64_t count, StreamHandle stream) {
  ForEachBlock<256>("sample", count / 256, stream,
                    GroupSums{from, parts, sums, arrivals, of_group});
}
void DivideBy(const int64_t* from, int64_t* to, int64_t by, int64_t count, StreamHandle stream) {
  ForEach("sample", count, stream, Quotient{from, to, by});
}
void AddTo(const int64_t* from, int64_t* to, int64_t by, int64_t count, StreamHandle stream) {
  ForEach("sample", count, stream, Added{from, to, by});
}

}  // namespace torus::cuda
