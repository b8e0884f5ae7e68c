// Extrema, powers and selections, element by element.
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/select.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel()}; }

OpRun Maximum(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::Maximum(input, a.Take("other")));
}

OpRun Minimum(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::Minimum(input, a.Take("other")));
}

// Both bounds are tensors, or both numbers.
OpRun Clamp(Arguments& a) {
  const Variable input = a.Take("input");
  if (a.Has("min") || a.Has("max")) {
    const Variable min = a.Optional("min"), max = a.Optional("max");
    for (const Variable& bound : {min, max})
      if (bound.defined() && bound.dtype() != input.dtype())
        Throw<Unsupported>("clamp", "promotion of a bound");
    return Run(ops::Clamp(input, min, max));
  }
  const std::optional<double> min = a.attrs().OptionalNumber("min"),
                              max = a.attrs().OptionalNumber("max");
  return Run(ops::Clamp(input, min, max));
}

// Either of the two may be a number.
OpRun Pow(Arguments& a) {
  if (!a.Has("exponent")) {
    if (!a.attrs().Has("exponent")) Throw<Unsupported>("pow", "without exponent");
    return Run(ops::Pow(a.Take("input"), a.attrs().Number("exponent", 1)));
  }
  const Variable exponent = a.Take("exponent");
  if (a.Has("input")) return Run(ops::Pow(a.Take("input"), exponent));
  if (!a.attrs().Has("input")) Throw<Unsupported>("pow", "without input");
  return Run(ops::Pow(a.attrs().Number("input", 1), exponent));
}

OpRun Where(Arguments& a) {
  const Variable condition = a.Take("condition"), input = a.Take("input");
  return Run(ops::Where(condition, input, a.Take("other")));
}

OpRun MaskedFill(Arguments& a) {
  const Variable input = a.Take("input"), mask = a.Take("mask");
  if (a.Has("value")) return Run(ops::MaskedFill(input, mask, a.Take("value")));
  if (!a.attrs().Has("value")) Throw<Unsupported>("masked_fill", "without value");
  return Run(ops::MaskedFill(input, mask, a.attrs().Number("value", 0)));
}

template <Variable (*kOp)(const Variable&, int64_t)>
OpRun Triangle(Arguments& a) {
  return Run(kOp(a.Take("input"), a.attrs().Int("diagonal", 0)));
}

}  // namespace

void AddSelections(OpTable& table) {
  table["maximum"] = Maximum;
  table["minimum"] = Minimum;
  table["clamp"] = Clamp;
  table["pow"] = Pow;
  table["where"] = Where;
  table["masked_fill"] = MaskedFill;
  table["tril"] = Triangle<ops::Tril>;
  table["triu"] = Triangle<ops::Triu>;
}

}  // namespace torus::replay
