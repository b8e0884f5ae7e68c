#include "ops/elementwise/cast.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"

namespace torus::ops {

Variable Cast(const Variable& input, DType dtype) {
  RequireDefined("cast", input);
  const DType from = input.dtype();
  if (from == dtype) return input;
  Tensor out = input.data().To(dtype);
  if (!IsFloating(from) || !IsFloating(dtype)) return Variable(out);
  return Record("cast", std::move(out), {input},
                [from](const GradContext& g) { return Gradients{g.grad().To(from)}; });
}

}  // namespace torus::ops
