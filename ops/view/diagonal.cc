#include "ops/view/diagonal.h"

#include <algorithm>
#include <cstdlib>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Two different dimensions, and which diagonal of theirs.
struct Line {
  int dim1, dim2;
  int64_t offset;
};

Line LineOf(std::string_view op, int rank, int64_t offset, int64_t dim1, int64_t dim2) {
  Require(rank >= 2, op, "needs two dimensions, has {}", rank);
  const Line line{NormalizeDim(op, dim1, rank), NormalizeDim(op, dim2, rank), offset};
  Require(line.dim1 != line.dim2, op, "needs two dimensions, got {} twice", line.dim1);
  return line;
}

Tensor DiagonalView(const Tensor& t, const Line& line) {
  const int64_t down = std::max<int64_t>(0, -line.offset),
                right = std::max<int64_t>(0, line.offset);
  const int64_t length =
      std::max<int64_t>(0, std::min(t.dim(line.dim1) - down, t.dim(line.dim2) - right));
  Shape shape;
  Strides strides;
  for (int d = 0; d < t.rank(); ++d) {
    if (d == line.dim1 || d == line.dim2) continue;
    shape.push_back(t.shape()[d]);
    strides.push_back(t.strides()[d]);
  }
  const int64_t step1 = t.strides()[line.dim1], step2 = t.strides()[line.dim2];
  shape.push_back(length);
  strides.push_back(step1 + step2);
  const int64_t first = length > 0 ? down * step1 + right * step2 : 0;
  return Tensor(t.storage(), shape, strides, t.offset() + first, t.dtype());
}

Tensor Embedded(const Tensor& diagonal, const Shape& shape, const Line& line) {
  Tensor whole = Zeros(shape, diagonal.dtype(), diagonal.device());
  Tensor window = DiagonalView(whole, line);
  Copy(diagonal, window);
  return whole;
}

}  // namespace

Variable Diagonal(const Variable& input, int64_t offset, int64_t dim1, int64_t dim2) {
  RequireDefined("diagonal", input);
  const Line line = LineOf("diagonal", input.rank(), offset, dim1, dim2);
  return Record("diagonal", DiagonalView(input.data(), line), {input},
                GradRule::OfView([line, shape = input.shape()](const GradContext& g) {
                  return Gradients{Embedded(g.grad(), shape, line)};
                }));
}

Variable DiagEmbed(const Variable& input, int64_t offset, int64_t dim1, int64_t dim2) {
  RequireDefined("diag_embed", input);
  Require(input.rank() > 0, "diag_embed", "needs at least one dimension");
  const Line line = LineOf("diag_embed", input.rank() + 1, offset, dim1, dim2);
  const int64_t size = input.dim(-1) + std::abs(offset);
  Shape shape;
  for (int d = 0, next = 0; d <= input.rank(); ++d)
    shape.push_back(d == line.dim1 || d == line.dim2 ? size : input.dim(next++));
  return Record("diag_embed", Embedded(input.data(), shape, line), {input},
                GradRule::OfView([line](const GradContext& g) {
                  return Gradients{DiagonalView(g.grad(), line)};
                }));
}

Variable Diag(const Variable& input, int64_t diagonal) {
  RequireDefined("diag", input);
  Require(input.rank() == 1 || input.rank() == 2, "diag", "needs a vector or a matrix, got {}",
          input.shape());
  if (input.rank() == 1) return DiagEmbed(input, diagonal);
  const Variable view = Diagonal(input, diagonal);
  return Record("diag", view.data().Clone(), {view},
                GradRule::OfView([](const GradContext& g) { return Gradients{g.grad()}; }));
}

}  // namespace torus::ops
