#include "ops/indexing/scatter.h"

#include <algorithm>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/indexing/index_check.h"
#include "ops/indexing/index_rows.h"
#include "ops/indexing/kernels.h"
#include "ops/precision/in_precision.h"
#include "ops/view/view.h"
#include "runtime/defined_tensor.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// The first elements along each dimension, of that shape.
Tensor Corner(Tensor t, const Shape& shape) {
  for (int d = 0; d < shape.rank(); ++d) t = t.Narrow(d, 0, shape[d]);
  return t;
}

bool HasScalar(const Variable& a, const Variable& b, const Variable& c) {
  return std::min({a.rank(), b.rank(), c.rank()}) == 0;
}

void CheckShapes(std::string_view op, const Shape& input, int dim, const Shape& index,
                 const Shape& src) {
  bool fits = index.rank() == input.rank() && src.rank() == input.rank();
  for (int d = 0; fits && d < input.rank(); ++d)
    fits = index[d] <= src[d] && (d == dim || index[d] <= input[d]);
  Require(fits, op, "index {} and source {} do not fit input {} along dimension {}", index, src,
          input, dim);
}

// A copy in `type`, on the device of all three.
Tensor CopyFor(std::string_view op, const Tensor& x, const Tensor& index, const Tensor& src,
               DType type) {
  Require(x.dtype() == src.dtype(), op, "dtypes differ: {} and {}", x, src);
  Tensor out(x.shape(), type, CommonDevice(op, x, index, src));
  Copy(x, out);
  return out;
}

// What lies at the index, in the corner of zeros of src's shape.
Tensor GatheredTo(const Shape& shape, const Tensor& g, int dim, const Tensor& index) {
  Tensor part(index.shape(), g.dtype(), g.device());
  kernels::Gather(g, dim, index, part);
  if (shape == part.shape()) return part;
  Tensor whole = Zeros(shape, g.dtype(), g.device());
  Tensor window = Corner(whole, part.shape());
  Copy(part, window);
  return whole;
}

// For an empty index, whose dtype and shape are not checked, as in PyTorch.
GradRule PassInput() {
  return [](const GradContext& g) { return Gradients{g.grad(), Tensor(), Tensor()}; };
}

Variable ScatterOf(const Variable& input, int64_t dim, const Variable& index, const Variable& src) {
  const int d = NormalizeDim("scatter", dim, input.rank());
  Tensor out = CopyFor("scatter", input.data(), index.data(), src.data(), input.dtype());
  if (index.numel() == 0) return Record("scatter", out, {input, index, src}, PassInput());
  CheckShapes("scatter", input.shape(), d, index.shape(), src.shape());
  const Tensor at = CheckedIndex("scatter", index.data(), input.dim(d));
  kernels::Scatter(Corner(src.data(), at.shape()).Contiguous(), d, at, out);
  return Record(
      "scatter", out, {input, index, src},
      [d, at = Saved(at), shape = src.shape()](const GradContext& g) {
        Tensor kept;
        if (g.wants(0)) {
          kept = g.grad().Clone();
          const Tensor& index = at.get();
          kernels::Scatter(Zeros(index.shape(), kept.dtype(), kept.device()), d, index, kept);
        }
        return Gradients{kept, Tensor(),
                         g.wants(2) ? GatheredTo(shape, g.grad(), d, at.get()) : Tensor()};
      });
}

Variable ScatterAddOf(const Variable& input, int64_t dim, const Variable& index,
                      const Variable& src) {
  const int d = NormalizeDim("scatter_add", dim, input.rank());
  const DType type = AddedType(input.dtype());
  Tensor sums = CopyFor("scatter_add", input.data(), index.data(), src.data(), type);
  if (index.numel() == 0)
    return Record("scatter_add", sums.To(input.dtype()), {input, index, src}, PassInput());
  CheckShapes("scatter_add", input.shape(), d, index.shape(), src.shape());
  const Tensor at = CheckedIndex("scatter_add", index.data(), input.dim(d));
  kernels::AddColumns("scatter_add", Corner(src.data(), at.shape()).To(type).Contiguous(), d, at,
                      sums);
  return Record("scatter_add", sums.To(input.dtype()), {input, index, src},
                [d, at = Saved(at), shape = src.shape()](const GradContext& g) {
                  return Gradients{
                      g.grad(), Tensor(),
                      g.wants(2) ? GatheredTo(shape, g.grad(), d, at.get()) : Tensor()};
                });
}

// Calls `scatter` with vectors in the place of scalars.
template <class F>
Variable WithoutScalars(std::string_view op, const F& scatter, const Variable& input,
                        const Variable& index, const Variable& src) {
  if (!HasScalar(input, index, src)) return scatter(input, index, src);
  Require(std::max({input.rank(), index.rank(), src.rank()}) <= 1, op,
          "index {} and source {} do not fit input {}", index.shape(), src.shape(), input.shape());
  return Reshape(scatter(Reshape(input, {input.numel()}), Reshape(index, {index.numel()}),
                         Reshape(src, {src.numel()})),
                 input.shape());
}

Tensor Scaled(const Tensor& t, double alpha) {
  return alpha == 1 ? t : ApplyBinary("index_add", BinaryOp::kMul, t, alpha);
}

// In the type of the sums.
Tensor Sum(const Tensor& x, const Tensor& sums, double alpha) {
  return ApplyBinary("index_add", BinaryOp::kAdd, x.To(sums.dtype()), Scaled(sums, alpha))
      .To(x.dtype());
}

Variable IndexAddOf(const Variable& input, int64_t dim, const Variable& index,
                    const Variable& source, double alpha) {
  Require(index.rank() <= 1, "index_add", "needs a 1-D index, got {}", index.shape());
  if (input.rank() == 0) {
    Require(index.numel() == source.numel() && source.rank() <= 1, "index_add",
            "{} indices and source {} do not fit a scalar", index.numel(), source.shape());
    return Reshape(
        IndexAddOf(Reshape(input, {1}), dim, index, Reshape(source, {source.numel()}), alpha), {});
  }
  const int d = NormalizeDim("index_add", dim, input.rank());
  Shape wanted = input.shape();
  wanted[d] = index.numel();
  Require(source.shape() == wanted && source.dtype() == input.dtype(), "index_add",
          "needs a source of shape {} for input {}, got {}", wanted, input, source);
  const Tensor at = CheckedIndex("index_add", index.data(), input.dim(d));
  const Device device = CommonDevice("index_add", input.data(), at, source.data());
  const Tensor sums = AddedRows("index_add", source.data(), input.shape(), d, at, -1, device);
  return Record("index_add", Sum(input.data(), sums, alpha), {input, source},
                [d, at = Saved(at), alpha](const GradContext& g) {
                  const auto picked = [&] {
                    return Scaled(PickedRows("index_add", g.grad(), d, at.get()), alpha);
                  };
                  return Gradients{g.grad(), g.wants(1) ? picked() : Tensor()};
                });
}

int64_t CountClasses(const Tensor& input) {
  Require(input.device() != kMetaDevice, "one_hot",
          "the classes of a tensor on meta cannot be counted: pass num_classes");
  Require(input.numel() > 0, "one_hot", "an empty tensor has no largest class: pass num_classes");
  const std::vector<int64_t> classes = ToVector<int64_t>(input.To(DType::kI64));
  return std::max<int64_t>(0, *std::ranges::max_element(classes) + 1);
}

}  // namespace

Variable Scatter(const Variable& input, int64_t dim, const Variable& index, const Variable& src) {
  return InPrecision(
      "scatter",
      [&](const Variable& input, const Variable& index, const Variable& src) {
        const auto scatter = [dim](const Variable& input, const Variable& index,
                                   const Variable& src) {
          return ScatterOf(input, dim, index, src);
        };
        return WithoutScalars("scatter", scatter, input, index, src);
      },
      input, index, src);
}

Variable Scatter(const Variable& input, int64_t dim, const Variable& index, double value) {
  RequireDefined("scatter", input, index);
  return Scatter(input, dim, index,
                 Variable(Full(index.shape(), value, input.dtype(), input.data().device())));
}

Variable ScatterAdd(const Variable& input, int64_t dim, const Variable& index,
                    const Variable& src) {
  return InPrecision(
      "scatter_add",
      [&](const Variable& input, const Variable& index, const Variable& src) {
        const auto scatter = [dim](const Variable& input, const Variable& index,
                                   const Variable& src) {
          return ScatterAddOf(input, dim, index, src);
        };
        return WithoutScalars("scatter_add", scatter, input, index, src);
      },
      input, index, src);
}

Variable IndexAdd(const Variable& input, int64_t dim, const Variable& index, const Variable& source,
                  double alpha) {
  RequireDefined("index_add", input, index, source);
  return InPrecision(
      "index_add",
      [&](const Variable& input, const Variable& source) {
        return IndexAddOf(input, dim, index, source, alpha);
      },
      input, source);
}

Tensor OneHot(const Tensor& input, int64_t num_classes) {
  RequireDefined("one_hot", input);
  Require(num_classes == -1 || num_classes > 0, "one_hot", "needs -1 or at least one class, got {}",
          num_classes);
  const int64_t count = num_classes == -1 ? CountClasses(input) : num_classes;
  const Tensor at = CheckedIndex("one_hot", input, count);
  Shape single = input.shape(), shape = input.shape();
  single.push_back(1);
  shape.push_back(count);
  Tensor out = Zeros(shape, DType::kI64, input.device());
  kernels::Scatter(Full(single, 1, DType::kI64, input.device()), input.rank(), at.View(single),
                   out);
  return out;
}

}  // namespace torus::ops
