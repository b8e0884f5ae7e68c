#include "ops/indexing/nonzero.h"

#include "autograd/undefined_input.h"
#include "ops/indexing/indexing.h"
#include "ops/indexing/kernels.h"
#include "ops/view/view.h"
#include "runtime/defined_tensor.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

void RequireValues(std::string_view op, const Tensor& tensor) {
  Require(tensor.device() != kMetaDevice, op,
          "the size of the result depends on values, which a tensor on meta does not have, got {}",
          tensor);
}

Tensor PlacesOf(const Tensor& mask) {
  Tensor places;
  kernels::Nonzero(mask.Contiguous(), places);
  return places;
}

}  // namespace

Tensor Nonzero(const Tensor& input) {
  RequireDefined("nonzero", input);
  RequireValues("nonzero", input);
  return PlacesOf(input.To(DType::kBool));
}

Variable MaskedSelect(const Variable& input, const Variable& mask) {
  RequireDefined("masked_select", input, mask);
  Require(mask.dtype() == DType::kBool, "masked_select", "needs a bool mask, got {}", mask);
  RequireValues("masked_select", mask.data());
  const Shape shape = BroadcastShapes("masked_select", input.shape(), mask.shape());
  const Tensor places = PlacesOf(mask.data().Expand(shape).Reshape({Numel(shape)}));
  return IndexSelect(Reshape(Expand(input, shape), {Numel(shape)}), 0,
                     Variable(places.View({places.dim(0)})));
}

}  // namespace torus::ops
