#include "ops/pooling/max_pool.h"

#include <limits>

#include "autograd/node.h"
#include "ops/pooling/pooling_kernel.h"

namespace torus::ops {
namespace {

constexpr const char* kOp = "max_pool2d";

cpu::PoolImage ImageOf(const Shape& shape) {
  CheckImages(kOp, shape);
  Require(shape[1] * shape[2] <= std::numeric_limits<int32_t>::max(), kOp, "{} is too large",
          shape);
  return {shape[0], shape[1], shape[2], shape[3]};
}

cpu::MaxPoolWindow WindowOf(const cpu::PoolImage& image, const MaxPool2dOptions& options) {
  const Dims kernel = PoolPair(kOp, "kernel_size", options.kernel_size);
  const Dims stride = options.stride.rank() == 0 ? kernel : PoolPair(kOp, "stride", options.stride);
  const Dims padding = PoolPair(kOp, "padding", options.padding);
  const Dims dilation = PoolPair(kOp, "dilation", options.dilation);
  cpu::MaxPoolWindow window{.rows = {kernel[0], stride[0], padding[0], dilation[0]},
                            .columns = {kernel[1], stride[1], padding[1], dilation[1]}};
  window.out_h = PooledSize(kOp, image.h, window.rows, options.ceil_mode);
  window.out_w = PooledSize(kOp, image.w, window.columns, options.ceil_mode);
  return window;
}

struct Pooled {
  Variable output;
  Tensor index;  // i32
};

Pooled Pool(const Variable& input, const MaxPool2dOptions& options) {
  const cpu::PoolImage image = ImageOf(input.shape());
  const cpu::MaxPoolWindow window = WindowOf(image, options);
  const Tensor x = input.data().Contiguous();
  const Shape shape{image.n, window.out_h, window.out_w, image.c};
  Tensor out(shape, x.dtype(), x.device()), index(shape, DType::kI32, x.device());
  VisitCompute(kOp, x.dtype(), [&]<class T>(ComputeType<T>) {
    cpu::MaxPool(image, window, x.data<T>(), out.mutable_data<T>(), index.mutable_data<int32_t>());
  });
  Variable output =
      Record("max_pool2d", std::move(out), {input},
             [image, index = Saved(index), pixels = window.out_h * window.out_w,
              in_shape = input.shape()](const GradContext& g) {
               Tensor dx(in_shape, g.grad().dtype(), g.grad().device());
               VisitCompute(kOp, dx.dtype(), [&]<class T>(ComputeType<T>) {
                 cpu::MaxPoolBackward(image, pixels, g.grad().data<T>(),
                                      index.get().data<int32_t>(), dx.mutable_data<T>());
               });
               return Gradients{dx};
             });
  return {output, index};
}

}  // namespace

Variable MaxPool2d(const Variable& input, const MaxPool2dOptions& options) {
  return Pool(input, options).output;
}

MaxPoolResult MaxPool2dWithIndices(const Variable& input, const MaxPool2dOptions& options) {
  Pooled pooled = Pool(input, options);
  return {pooled.output, pooled.index.To(DType::kI64)};
}

}  // namespace torus::ops
