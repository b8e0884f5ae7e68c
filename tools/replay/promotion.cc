#include "tools/replay/promotion.h"

#include <algorithm>

#include "ops/elementwise/cast.h"

namespace torus::replay {
namespace {

// bool, whole, floating.
int KindOf(DType dtype) {
  if (dtype == DType::kBool) return 0;
  return IsFloating(dtype) ? 2 : 1;
}

// Of two dtypes of equal priority.
DType Wider(DType a, DType b) {
  if (KindOf(a) != KindOf(b)) return KindOf(a) > KindOf(b) ? a : b;
  const bool halves = a != b && SizeOf(a) == 2 && SizeOf(b) == 2;  // bf16 and f16 meet in f32
  if (halves) return DType::kF32;
  return SizeOf(a) >= SizeOf(b) ? a : b;
}

std::optional<DType> WidestWhere(const std::vector<Operand>& operands, bool scalars) {
  std::optional<DType> widest;
  for (const Operand& operand : operands) {
    if (!operand.tensor.defined() || (operand.tensor.rank() == 0) != scalars) continue;
    const DType dtype = operand.tensor.dtype();
    widest = widest ? Wider(*widest, dtype) : dtype;
  }
  return widest;
}

// What decides, unless `next` is of a higher kind.
std::optional<DType> Raise(std::optional<DType> first, std::optional<DType> next) {
  if (!first) return next;
  return next && KindOf(*next) > KindOf(*first) ? next : first;
}

// Integers wrap around where their dtype ends, as in PyTorch.
Tensor Scalar(double number, DType dtype, Device device) {
  return Full({}, number, IsFloating(dtype) ? dtype : DType::kI64, device).To(dtype);
}

}  // namespace

DType PromotedType(const std::vector<Operand>& operands) {
  std::optional<DType> type = Raise(WidestWhere(operands, false), WidestWhere(operands, true));
  for (const Operand& operand : operands)
    if (operand.number) type = Raise(type, operand.whole ? DType::kI64 : DType::kF32);
  return type.value_or(DType::kF32);
}

std::vector<Variable> Promote(const std::vector<Operand>& operands) {
  const DType type = PromotedType(operands);
  Device device;
  for (const Operand& operand : operands)
    if (operand.tensor.defined()) device = operand.tensor.data().device();
  std::vector<Variable> promoted;
  for (const Operand& operand : operands) {
    if (operand.tensor.defined())
      promoted.push_back(ops::Cast(operand.tensor, type));
    else if (operand.number)
      promoted.push_back(Variable(Scalar(*operand.number, type, device)));
    else
      promoted.emplace_back();
  }
  return promoted;
}

}  // namespace torus::replay
