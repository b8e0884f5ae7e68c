#include "ops/view/join.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/precision/in_precision.h"
#include "ops/view/view.h"
#include "ops/view/view_shape.h"
#include "runtime/dispatch.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Tensors that PyTorch accepts in any cat: empty ones of shape (0).
bool IsBlank(const Shape& shape) { return shape == Shape{0}; }

struct Joined {
  Shape shape;
  int dim;
};

// If all tensors are blank, any `dim` is accepted.
Joined RuleOfCat(const std::vector<Variable>& tensors, int64_t dim) {
  std::vector<Shape> parts;
  for (const Variable& tensor : tensors)
    if (!IsBlank(tensor.shape())) parts.push_back(tensor.shape());
  if (parts.empty()) return {Shape{0}, 0};
  Require(parts[0].rank() > 0, "cat", "a scalar cannot be joined");
  const int d = NormalizeDim("cat", dim, parts[0].rank());
  return {JoinedShape(parts, d), d};
}

// The piece of `whole` that belongs to each part, in order; blank parts get an empty tensor of
// their own.
std::vector<Tensor> Pieces(const Tensor& whole, const std::vector<Shape>& parts, int dim) {
  std::vector<Tensor> pieces;
  int64_t at = 0;
  for (const Shape& part : parts) {
    if (IsBlank(part)) {
      pieces.push_back(Empty(part, whole.dtype(), whole.device()));
      continue;
    }
    pieces.push_back(whole.Narrow(dim, at, part[dim]));
    at += part[dim];
  }
  return pieces;
}

// The tensor of this shape of which the gradients are the pieces along `dim`, if they are: one
// after another in one memory, as attention writes those of query, key and value. Else undefined.
Tensor WholeOf(const GradContext& g, const Shape& shape, const std::vector<int64_t>& sizes, int dim,
               DType dtype) {
  const Tensor& first = g.grad(0);
  if (!first.defined() || Numel(shape) == 0) return {};
  const Strides strides = ContiguousStrides(shape);
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const Tensor& piece = g.grad(static_cast<int>(i));
    if (!piece.defined() || piece.storage() != first.storage() || piece.dtype() != dtype ||
        piece.offset() != first.offset() + at * strides[dim])
      return {};
    for (int d = 0; d < shape.rank(); ++d)
      if (piece.dim(d) > 1 && piece.strides()[d] != strides[d]) return {};
    at += sizes[i];
  }
  return Tensor(first.storage(), shape, strides, first.offset(), dtype);
}

// The same by copies, with zeros for pieces to which no gradient came.
Tensor JoinedOf(const GradContext& g, const Shape& shape, const std::vector<int64_t>& sizes,
                int dim, DType dtype, Device device) {
  bool all = true;
  for (size_t i = 0; i < sizes.size(); ++i) all = all && g.grad(static_cast<int>(i)).defined();
  Tensor whole = all ? Tensor(shape, dtype, device) : Zeros(shape, dtype, device);
  int64_t at = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Tensor window = whole.Narrow(dim, at, sizes[i]);
    if (g.grad(static_cast<int>(i)).defined()) Copy(g.grad(static_cast<int>(i)), window);
    at += sizes[i];
  }
  return whole;
}

}  // namespace

Variable Cat(const std::vector<Variable>& inputs, int64_t dim) {
  Require(!inputs.empty(), "cat", "needs at least one tensor");
  for (const Variable& input : inputs) RequireDefined("cat", input);
  const std::vector<Variable> tensors = ToWidest(inputs);
  const auto [shape, d] = RuleOfCat(tensors, dim);
  const Tensor& first = tensors[0].data();
  Device device = first.device();
  std::vector<Shape> parts;
  for (const Variable& tensor : tensors) {
    Require(tensor.dtype() == first.dtype(), "cat", "dtypes differ: {} and {}", first,
            tensor.data());
    if (CommonDevice("cat", first, tensor.data()) == kMetaDevice) device = kMetaDevice;
    parts.push_back(tensor.shape());
  }
  Tensor out(shape, first.dtype(), device);
  std::vector<Tensor> pieces = Pieces(out, parts, d);
  for (size_t i = 0; i < tensors.size(); ++i) Copy(tensors[i].data(), pieces[i]);
  return Record("cat", std::move(out), tensors,
                [parts, d = d](const GradContext& g) { return Pieces(g.grad(), parts, d); });
}

Variable Stack(const std::vector<Variable>& tensors, int64_t dim) {
  Require(!tensors.empty(), "stack", "needs at least one tensor");
  std::vector<Variable> rows;
  for (const Variable& tensor : tensors) {
    RequireDefined("stack", tensor);
    Require(tensor.shape() == tensors[0].shape(), "stack", "shapes differ: {} and {}",
            tensors[0].shape(), tensor.shape());
    rows.push_back(Unsqueeze(tensor, dim));
  }
  return Cat(rows, NormalizeDim("stack", dim, rows[0].rank()));
}

std::vector<Variable> Split(const Variable& input, const std::vector<int64_t>& sizes, int64_t dim) {
  RequireDefined("split", input);
  Require(input.rank() > 0, "split", "needs at least one dimension");
  const int d = NormalizeDim("split", dim, input.rank());
  int64_t sum = 0;
  for (int64_t size : sizes) sum += size;
  Require(sum == input.dim(d), "split", "sizes ({}) do not add up to dimension {} of shape {}",
          fmt::join(sizes, ", "), d, input.shape());
  std::vector<Tensor> outs;
  int64_t at = 0;
  for (int64_t size : sizes) {
    outs.push_back(input.data().Narrow(d, at, size));
    at += size;
  }
  return RecordMany(
      "split", std::move(outs), {input},
      GradRule::OfView([shape = input.shape(), sizes, d, dtype = input.dtype(),
                        device = input.data().device()](const GradContext& g) {
        Tensor whole = WholeOf(g, shape, sizes, d, dtype);
        return Gradients{whole.defined() ? whole : JoinedOf(g, shape, sizes, d, dtype, device)};
      }));
}

std::vector<Variable> Split(const Variable& input, int64_t split_size, int64_t dim) {
  RequireDefined("split", input);
  Require(input.rank() > 0, "split", "needs at least one dimension");
  const int d = NormalizeDim("split", dim, input.rank());
  return Split(input, SplitSizes(input.dim(d), split_size), d);
}

std::vector<Variable> Chunk(const Variable& input, int64_t chunks, int64_t dim) {
  RequireDefined("chunk", input);
  Require(input.rank() > 0, "chunk", "needs at least one dimension");
  const int d = NormalizeDim("chunk", dim, input.rank());
  return Split(input, ChunkSizes(input.dim(d), chunks), d);
}

std::vector<Variable> Unbind(const Variable& input, int64_t dim) {
  RequireDefined("unbind", input);
  Require(input.rank() > 0, "unbind", "needs at least one dimension");
  const int d = NormalizeDim("unbind", dim, input.rank());
  if (input.dim(d) == 0) return {};
  std::vector<Variable> rows = Split(input, 1, d);
  for (Variable& row : rows) row = Squeeze(row, {d});
  return rows;
}

}  // namespace torus::ops
