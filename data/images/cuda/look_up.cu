#include "data/images/cuda/look_up.h"
//
#include "runtime/cuda/elements.h"
#include "runtime/cuda/for_each.h"

namespace torus::data::cuda {
namespace {

struct LookUpLevel {
  const uint8_t* images;
  const float* table;
  float* out;
  int64_t channels;
  __device__ void operator()(int64_t i) const {
    constexpr int64_t kLevels = 256;
    out[i] = table[i % channels * kLevels + images[i]];
  }
};

}  // namespace

void LookUp(const Tensor& images, const Tensor& table, Tensor& out, StreamHandle stream) {
  using torus::cuda::Elements;
  torus::cuda::ForEach("normalize", images.numel(), stream,
                       LookUpLevel{Elements<uint8_t>(images), Elements<float>(table),
                                   torus::cuda::MutableElements<float>(out), table.dim(0)});
}

}  // namespace torus::data::cuda
