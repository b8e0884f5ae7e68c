#include "ops/elementwise/cast.h"

#include "autograd/node.h"

namespace torus::ops {

Variable Cast(const Variable& input, DType dtype) {
  const DType from = input.dtype();
  if (from == dtype) return input;
  Tensor out = input.data().To(dtype);
  if (!IsFloating(from) || !IsFloating(dtype)) return Variable(out);
  return Record("cast", std::move(out), {input},
                [from](const GradContext& g) { return Gradients{g.grad().To(from)}; });
}

}  // namespace torus::ops
