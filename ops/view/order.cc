#include "ops/view/order.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/sum/reduction_shape.h"
#include "ops/view/view.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Writes `in` to `out`, both moved by places[d], in [0, size), along each dimension from d on.
void CopyRolled(const Tensor& in, Tensor out, const Dims& places, int d) {
  while (d < places.rank() && places[d] == 0) ++d;
  if (d == places.rank()) return Copy(in, out);
  const int64_t by = places[d], kept = in.dim(d) - by;
  CopyRolled(in.Narrow(d, 0, kept), out.Narrow(d, by, kept), places, d + 1);
  CopyRolled(in.Narrow(d, kept, by), out.Narrow(d, 0, by), places, d + 1);
}

Tensor Rolled(const Tensor& in, const Dims& places) {
  Tensor out(in.shape(), in.dtype(), in.device());
  CopyRolled(in, out, places, 0);
  return out;
}

// How far each dimension moves, in [0, size).
Dims PlacesOf(const Shape& shape, const Dims& shifts, const Dims& dims) {
  Require(shifts.rank() == dims.rank(), "roll", "{} shifts for {} dimensions", shifts.rank(),
          dims.rank());
  Dims places = Dims::Filled(shape.rank(), 0);
  for (int i = 0; i < dims.rank(); ++i) {
    const int d = NormalizeDim("roll", dims[i], shape.rank());
    if (shape.rank() == 0 || shape[d] == 0) continue;
    const int64_t place = (places[d] + shifts[i] % shape[d]) % shape[d];
    places[d] = place < 0 ? place + shape[d] : place;
  }
  return places;
}

Dims Opposite(const Shape& shape, Dims places) {
  for (int d = 0; d < shape.rank(); ++d)
    if (places[d] != 0) places[d] = shape[d] - places[d];
  return places;
}

}  // namespace

Tensor ReversedView(const Tensor& tensor, const Dims& dims) {
  if (tensor.numel() == 0 || tensor.rank() == 0) return tensor;
  Strides strides = tensor.strides();
  int64_t offset = tensor.offset();
  for (int64_t dim : dims) {
    const int d = static_cast<int>(dim);
    offset += (tensor.dim(d) - 1) * strides[d];
    strides[d] = -strides[d];
  }
  return Tensor(tensor.storage(), tensor.shape(), strides, offset, tensor.dtype());
}

Variable Flip(const Variable& input, const Dims& dims) {
  RequireDefined("flip", input);
  const Dims flipped = dims.rank() == 0 ? dims : ReducedDims("flip", dims, input.rank());
  return Record("flip", ReversedView(input.data(), flipped).Clone(), {input},
                GradRule::OfView([flipped](const GradContext& g) {
                  return Gradients{ReversedView(g.grad(), flipped).Clone()};
                }));
}

Variable Roll(const Variable& input, const Dims& shifts, const Dims& dims) {
  RequireDefined("roll", input);
  if (dims.rank() == 0) {
    Require(shifts.rank() == 1, "roll", "without dims one shift is needed, got {}", shifts.rank());
    return Reshape(Roll(Reshape(input, {-1}), shifts, {0}), input.shape());
  }
  const Dims places = PlacesOf(input.shape(), shifts, dims);
  return Record("roll", Rolled(input.data(), places), {input},
                GradRule::OfView([places](const GradContext& g) {
                  return Gradients{Rolled(g.grad(), Opposite(g.grad().shape(), places))};
                }));
}

}  // namespace torus::ops
