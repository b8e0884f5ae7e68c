#include "ops/pad/pad.h"

#include <algorithm>

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/binary.h"
#include "ops/precision/in_precision.h"
#include "ops/sum/sum.h"
#include "ops/view/order.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

// Of each dimension: what is added, or cut off where negative.
struct Margins {
  Dims before, after;
};

Margins MarginsOf(const Shape& shape, const std::vector<int64_t>& pad) {
  const int rank = shape.rank();
  Require(pad.size() % 2 == 0 && std::ssize(pad) <= 2 * rank, "pad",
          "needs two pads for each of at most {} dimensions, got {}", rank, pad.size());
  Margins margins{Dims::Filled(rank, 0), Dims::Filled(rank, 0)};
  for (size_t i = 0; i < pad.size(); i += 2) {
    const int d = rank - 1 - static_cast<int>(i / 2);
    margins.before[d] = pad[i], margins.after[d] = pad[i + 1];
    const int64_t cut = std::min<int64_t>(0, pad[i]) + std::min<int64_t>(0, pad[i + 1]);
    Require(shape[d] + pad[i] + pad[i + 1] >= 0 && shape[d] + cut >= 0, "pad",
            "cannot cut {} and {} off dimension {} of {}", pad[i], pad[i + 1], d, shape);
  }
  return margins;
}

// The margins of one sign, 1 or -1, without it.
Margins OfSign(Margins margins, int64_t sign) {
  for (Dims* side : {&margins.before, &margins.after})
    for (int d = 0; d < side->rank(); ++d) (*side)[d] = std::max<int64_t>(0, sign * (*side)[d]);
  return margins;
}

Shape Grown(Shape shape, const Margins& added) {
  for (int d = 0; d < shape.rank(); ++d) shape[d] += added.before[d] + added.after[d];
  return shape;
}

// A view of what is left inside of the margins.
Tensor Inside(Tensor t, const Margins& margins) {
  for (int d = 0; d < t.rank(); ++d)
    t = t.Narrow(d, margins.before[d], t.dim(d) - margins.before[d] - margins.after[d]);
  return t;
}

Tensor PadConstant(const Tensor& x, const Margins& margins, double value) {
  const Margins added = OfSign(margins, 1);
  const Tensor kept = Inside(x, OfSign(margins, -1));
  const Shape shape = Grown(kept.shape(), added);
  Tensor out = shape == kept.shape() ? Tensor(shape, x.dtype(), x.device())
                                     : Full(shape, value, x.dtype(), x.device());
  Tensor window = Inside(out, added);
  Copy(kept, window);
  return out;
}

enum class Border { kReflect, kReplicate, kCircular };

// The view of x that a border of `count` elements, before or behind it along d, is a copy of. For
// kReplicate it is one element long.
Tensor SourceOf(const Tensor& x, int d, Border border, int64_t count, bool behind) {
  const int64_t size = x.dim(d);
  switch (border) {
    case Border::kReflect:
      return ReversedView(x.Narrow(d, behind ? size - 1 - count : 1, count), {d});
    case Border::kReplicate:
      return x.Narrow(d, behind ? size - 1 : 0, 1);
    default:
      return x.Narrow(d, behind ? 0 : size - count, count);
  }
}

void CheckBorder(int64_t size, Border border, int64_t count) {
  const bool fits = border == Border::kReflect    ? count < size
                    : border == Border::kCircular ? count <= size
                                                  : size > 0;
  Require(count == 0 || fits, "pad", "a border of {} cannot be taken from {} elements", count,
          size);
}

// Calls f(view of the border in `whole`, count, behind) for both borders of dimension d.
template <class F>
void ForBorders(const Tensor& whole, int d, const Margins& added, const F& f) {
  const int64_t before = added.before[d], after = added.after[d];
  if (before > 0) f(whole.Narrow(d, 0, before), before, false);
  if (after > 0) f(whole.Narrow(d, whole.dim(d) - after, after), after, true);
}

Tensor InnerAlong(const Tensor& whole, int d, const Margins& added) {
  return whole.Narrow(d, added.before[d], whole.dim(d) - added.before[d] - added.after[d]);
}

Tensor Bordered(const Tensor& x, int d, Border border, const Margins& added) {
  Shape shape = x.shape();
  shape[d] += added.before[d] + added.after[d];
  if (shape == x.shape()) return x;
  Tensor out(shape, x.dtype(), x.device()), inner = InnerAlong(out, d, added);
  Copy(x, inner);
  ForBorders(out, d, added, [&](Tensor place, int64_t count, bool behind) {
    Copy(SourceOf(x, d, border, count, behind).Expand(place.shape()), place);
  });
  return out;
}

// The gradient of Bordered: that of the inside, to which the borders' are added where they came
// from.
Tensor BorderedBack(const Tensor& dy, int d, Border border, const Margins& added) {
  if (added.before[d] + added.after[d] == 0) return dy;
  Tensor dx = InnerAlong(dy, d, added).Clone();
  ForBorders(dy, d, added, [&](const Tensor& place, int64_t count, bool behind) {
    Tensor source = SourceOf(dx, d, border, count, behind);
    const Tensor sum = border == Border::kReplicate ? SumOver("pad", place, {d}, true) : place;
    Copy(ApplyBinary("pad", BinaryOp::kAdd, source, sum), source);
  });
  return dx;
}

// A border reaches over what is cut off, as in PyTorch; a circular one alone does not.
Variable PadBorder(const Variable& input, const Margins& margins, Border border) {
  const Margins added = OfSign(margins, 1), cut = OfSign(margins, -1);
  const bool cut_first = border == Border::kCircular;
  Tensor out = cut_first ? Inside(input.data(), cut) : input.data();
  const Shape before = out.shape();
  for (int d = out.rank() - 1; d >= 0; --d) {
    CheckBorder(out.dim(d), border, std::max(added.before[d], added.after[d]));
    out = Bordered(out, d, border, added);
  }
  const Shape full = out.shape();
  if (!cut_first) out = Inside(out, cut);
  if (out.storage() == input.data().storage()) out = out.Clone();
  return Record("pad_border", out.Contiguous(), {input},
                [=, shape = input.shape()](const GradContext& g) {
                  Tensor dx = g.grad();
                  if (!cut_first && dx.shape() != full) dx = PadConstant(dx, cut, 0);
                  for (int d = 0; d < dx.rank(); ++d) dx = BorderedBack(dx, d, border, added);
                  if (cut_first && before != shape) dx = PadConstant(dx, cut, 0);
                  return Gradients{dx};
                });
}

Margins Negated(Margins margins) {
  for (Dims* side : {&margins.before, &margins.after})
    for (int d = 0; d < side->rank(); ++d) (*side)[d] = -(*side)[d];
  return margins;
}

}  // namespace

Variable Pad(const Variable& input, const std::vector<int64_t>& pad, std::string_view mode,
             double value) {
  RequireDefined("pad", input);
  const Margins margins = MarginsOf(input.shape(), pad);
  if (mode == "constant")
    return Record("pad", PadConstant(input.data(), margins, value), {input},
                  [margins](const GradContext& g) {
                    return Gradients{PadConstant(g.grad(), Negated(margins), 0)};
                  });
  Require(mode == "reflect" || mode == "replicate" || mode == "circular", "pad",
          "has the modes constant, reflect, replicate and circular, got {}", mode);
  const Border border = mode == "reflect"     ? Border::kReflect
                        : mode == "replicate" ? Border::kReplicate
                                              : Border::kCircular;
  return InPrecision(
      "pad_border", [&](const Variable& x) { return PadBorder(x, margins, border); }, input);
}

}  // namespace torus::ops
