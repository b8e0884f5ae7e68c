#include "ops/resampling/map_axis.h"

#include "ops/resampling/kernels.h"
#include "ops/sum/reduction_shape.h"

namespace torus::ops {

Tensor MappedAlong(std::string_view op, const Tensor& x, int dim, const AxisTaps& taps) {
  TORUS_CHECK(x.dim(dim) == taps.in, "taps of {} inputs along dimension {} of {}", taps.in, dim,
              x.shape());
  Shape shape = x.shape();
  shape[dim] = taps.out();
  Tensor out(shape, x.dtype(), x.device());
  Tensor rows = out.View(MiddleShape(shape, dim, dim));
  kernels::ApplyTaps(op, taps, x.View(MiddleShape(x.shape(), dim, dim)), rows);
  return out;
}

}  // namespace torus::ops
