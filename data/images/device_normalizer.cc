#include "data/images/device_normalizer.h"

#include "data/images/cuda/look_up.h"
#include "runtime/gpu_dispatch.h"

namespace torus::data {

Tensor DeviceNormalizer::TableOn(Device gpu) const {
  const std::lock_guard lock(mutex_);
  Tensor& table = tables_[gpu.index];
  if (!table.defined()) table = normalizer_.Table().To(gpu);
  return table;
}

Tensor DeviceNormalizer::Apply(const Tensor& images) const {
  normalizer_.Check(images);
  Tensor out(images.shape(), DType::kF32, images.device());
  Dispatch(
      "normalize", images.device(), [&] { normalizer_.Apply(images, out.mutable_data<float>()); },
      [&] { cuda::LookUp(images, TableOn(images.device()), out, CurrentStream(images.device())); });
  return out;
}

}  // namespace torus::data
