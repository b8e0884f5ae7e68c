#include "ops/einsum/contract.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "ops/elementwise/cast.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/matmul.h"
#include "ops/reduction/reduction.h"
#include "ops/view/diagonal.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::ops {
namespace {

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

int PlaceOf(const Labels& labels, int label) {
  return static_cast<int>(std::ranges::find(labels, label) - labels.begin());
}

int64_t SizeOfLabel(const LabelledTensor& t, int label) {
  return t.tensor.dim(PlaceOf(t.labels, label));
}

// Two equal labels become one, of the diagonal.
LabelledTensor WithoutTwins(std::string_view op, LabelledTensor t) {
  for (size_t i = 0; i < t.labels.size(); ++i)
    for (size_t j = i + 1; j < t.labels.size(); ++j) {
      if (t.labels[i] != t.labels[j]) continue;
      const int a = static_cast<int>(i), b = static_cast<int>(j), label = t.labels[i];
      Require(t.tensor.dim(a) == t.tensor.dim(b), op, "the diagonal of sizes {} and {} is none",
              t.tensor.dim(a), t.tensor.dim(b));
      t.tensor = Diagonal(t.tensor, 0, a, b);
      std::erase(t.labels, label);
      t.labels.push_back(label);
      return WithoutTwins(op, t);
    }
  return t;
}

// Floating types that differ are left to the ops, which know the precision in which they compute.
void CheckTypes(std::string_view op, const std::vector<LabelledTensor>& operands) {
  const Variable& first = operands[0].tensor;
  for (const LabelledTensor& t : operands)
    Require(t.tensor.dtype() == first.dtype() ||
                (IsFloating(t.tensor.dtype()) && IsFloating(first.dtype())),
            op, "dtypes differ: {} and {}", first, t.tensor);
}

void CheckSizes(std::string_view op, const std::vector<LabelledTensor>& operands) {
  std::map<int, int64_t> sizes;
  for (const LabelledTensor& t : operands)
    for (int label : t.labels) {
      const int64_t size = SizeOfLabel(t, label);
      int64_t& known = sizes.try_emplace(label, size).first->second;
      Require(known == size || known == 1 || size == 1, op,
              "sizes {} and {} of one dimension do not broadcast", known, size);
      if (known == 1) known = size;
    }
}

// Without the dimensions of size 1 that are larger in `other`.
LabelledTensor WithoutOnes(LabelledTensor t, const LabelledTensor& other) {
  Dims ones;
  Labels kept;
  for (int label : t.labels) {
    const bool one =
        SizeOfLabel(t, label) == 1 && Has(other.labels, label) && SizeOfLabel(other, label) != 1;
    if (one)
      ones.push_back(PlaceOf(t.labels, label));
    else
      kept.push_back(label);
  }
  if (ones.rank() > 0) t.tensor = Squeeze(t.tensor, ones);
  return {t.tensor, kept};
}

// Summed over the labels for which `drops` holds.
template <class Drops>
LabelledTensor SummedOver(LabelledTensor t, const Drops& drops) {
  Dims gone;
  Labels kept;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (drops(t.labels[i]))
      gone.push_back(static_cast<int64_t>(i));
    else
      kept.push_back(t.labels[i]);
  }
  if (gone.rank() > 0) t.tensor = Sum(t.tensor, gone);
  return {t.tensor, kept};
}

Variable InOrder(const LabelledTensor& t, const Labels& order) {
  Dims dims;
  for (int label : order) dims.push_back(PlaceOf(t.labels, label));
  bool same = true;
  for (int d = 0; d < dims.rank(); ++d) same = same && dims[d] == d;
  return same ? t.tensor : Permute(t.tensor, dims);
}

int64_t Count(const LabelledTensor& t, const Labels& labels) {
  int64_t count = 1;
  for (int label : labels) count *= SizeOfLabel(t, label);
  return count;
}

Labels Joined(Labels a, const Labels& b, const Labels& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

// (size of a, size of b, size of c), the labels of each group merged.
Variable Grouped(const LabelledTensor& t, const Labels& a, const Labels& b, const Labels& c) {
  return Reshape(InOrder(t, Joined(a, b, c)), {Count(t, a), Count(t, b), Count(t, c)});
}

// The labels of two operands, by what becomes of them.
struct PairLabels {
  Labels batch;        // of both, in the product
  Labels left, right;  // of one operand alone
  Labels summed;       // of both, summed over
};

// Elementwise, with broadcasting. A factor of integers that was summed is i64, and so the product.
Variable ElementProduct(const Variable& a, const Variable& b) {
  if (a.dtype() == b.dtype() || IsFloating(a.dtype())) return Mul(a, b);
  return Mul(Cast(a, DType::kI64), Cast(b, DType::kI64));
}

// needed(label): whether the product must have it.
template <class Needed>
PairLabels Sorted(const LabelledTensor& a, const LabelledTensor& b, const Needed& needed) {
  PairLabels sorted;
  for (int label : a.labels) {
    if (!Has(b.labels, label))
      sorted.left.push_back(label);
    else
      (needed(label) ? sorted.batch : sorted.summed).push_back(label);
  }
  for (int label : b.labels)
    if (!Has(a.labels, label)) sorted.right.push_back(label);
  return sorted;
}

// (batch, left, right), or (left, right) where matrices are multiplied without a batch.
Variable PairProduct(std::string_view op, const LabelledTensor& a, const LabelledTensor& b,
                     const PairLabels& of) {
  if (of.summed.empty())
    return ElementProduct(Grouped(a, of.batch, of.left, {}), Grouped(b, of.batch, {}, of.right));
  Require(IsFloating(a.tensor.dtype()) && IsFloating(b.tensor.dtype()), op,
          "sums products of floating types alone, got {} and {}; Cast the integers", a.tensor,
          b.tensor);
  const Variable left = Grouped(a, of.batch, of.left, of.summed),
                 right = Grouped(b, of.batch, of.summed, of.right);
  if (!of.batch.empty()) return Bmm(left, right);
  return Matmul(Squeeze(left, {0}), Squeeze(right, {0}));
}

// The product of two operands, summed over the labels that are not needed.
template <class Needed>
LabelledTensor Multiplied(std::string_view op, const LabelledTensor& first,
                          const LabelledTensor& second, const Needed& needed) {
  LabelledTensor a = WithoutOnes(first, second), b = WithoutOnes(second, first);
  a = SummedOver(a, [&](int label) { return !needed(label) && !Has(b.labels, label); });
  b = SummedOver(b, [&](int label) { return !needed(label) && !Has(a.labels, label); });
  const PairLabels of = Sorted(a, b, needed);
  Shape shape;
  for (int label : Joined(of.batch, of.left, {})) shape.push_back(SizeOfLabel(a, label));
  for (int label : of.right) shape.push_back(SizeOfLabel(b, label));
  return {Reshape(PairProduct(op, a, b, of), shape), Joined(of.batch, of.left, of.right)};
}

}  // namespace

Variable Contract(std::string_view op, std::vector<LabelledTensor> operands,
                  const std::vector<int>& result) {
  CheckTypes(op, operands);
  for (LabelledTensor& t : operands) t = WithoutTwins(op, t);
  CheckSizes(op, operands);
  LabelledTensor product = operands[0];
  for (size_t i = 1; i < operands.size(); ++i)
    product = Multiplied(op, product, operands[i], [&](int label) {
      return Has(result, label) ||
             std::any_of(operands.begin() + static_cast<std::ptrdiff_t>(i) + 1, operands.end(),
                         [&](const LabelledTensor& later) { return Has(later.labels, label); });
    });
  return InOrder(SummedOver(product, [&](int label) { return !Has(result, label); }), result);
}

}  // namespace torus::ops
