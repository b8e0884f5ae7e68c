#include "ops/pooling/max_pool.h"

#include <limits>

#include "autograd/node.h"
#include "ops/pooling/kernels.h"
#include "ops/precision/in_precision.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "max_pool2d";

PoolImage ImageOf(const Shape& shape) {
  CheckImages(kOp, shape);
  Require(shape[1] * shape[2] <= std::numeric_limits<int32_t>::max(), kOp, "{} is too large",
          shape);
  return {shape[0], shape[1], shape[2], shape[3]};
}

MaxPoolWindow WindowOf(const PoolImage& image, const MaxPool2dOptions& options) {
  const Dims kernel = PoolPair(kOp, "kernel_size", options.kernel_size);
  const Dims stride = options.stride.rank() == 0 ? kernel : PoolPair(kOp, "stride", options.stride);
  const Dims padding = PoolPair(kOp, "padding", options.padding);
  const Dims dilation = PoolPair(kOp, "dilation", options.dilation);
  MaxPoolWindow window{.rows = {kernel[0], stride[0], padding[0], dilation[0]},
                       .columns = {kernel[1], stride[1], padding[1], dilation[1]}};
  window.out_h = PooledSize(kOp, image.h, window.rows, options.ceil_mode);
  window.out_w = PooledSize(kOp, image.w, window.columns, options.ceil_mode);
  return window;
}

// Sets `index`, i32.
Variable PoolOf(const Variable& input, const MaxPool2dOptions& options, Tensor& index) {
  const PoolImage image = ImageOf(input.shape());
  const MaxPoolWindow window = WindowOf(image, options);
  const Tensor x = input.data().Contiguous();
  const Shape shape{image.n, window.out_h, window.out_w, image.c};
  Tensor out(shape, x.dtype(), x.device());
  index = Tensor(shape, DType::kI32, x.device());
  kernels::MaxPool(image, window, x, out, index);
  return Record(
      "max_pool2d", std::move(out), {input},
      [image, window, index = Saved(index), in_shape = input.shape()](const GradContext& g) {
        Tensor dx(in_shape, g.grad().dtype(), g.grad().device());
        kernels::MaxPoolBackward(image, window, g.grad(), index.get(), dx);
        return Gradients{dx};
      });
}

Variable Pool(const Variable& input, const MaxPool2dOptions& options, Tensor& index) {
  const auto pool = [&](const Variable& x) { return PoolOf(x, options, index); };
  return StayLowOnGpu(input) ? pool(input) : InPrecision(kOp, pool, input);
}

}  // namespace

Variable MaxPool2d(const Variable& input, const MaxPool2dOptions& options) {
  Tensor index;
  return Pool(input, options, index);
}

MaxPoolResult MaxPool2dWithIndices(const Variable& input, const MaxPool2dOptions& options) {
  Tensor index;
  const Variable output = Pool(input, options, index);
  return {output, index.To(DType::kI64)};
}

}  // namespace torus::ops
