// Extrema, powers and selections, element by element.
#include "ops/elementwise/cast.h"
#include "ops/elementwise/extrema.h"
#include "ops/elementwise/power.h"
#include "ops/elementwise/select.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

OpRun Run(const Variable& y) { return {.outputs = {y}, .terms = y.numel()}; }

// What selects: a gradient is the seed where an argument was taken, summed where it was broadcast.
OpRun Selected(const Variable& y) {
  OpRun run = Run(y);
  run.gradient_size = 1;
  return run;
}

template <Variable (*kOp)(const Variable&, const Variable&)>
OpRun OfTwo(Arguments& a) {
  a.Take("input"), a.Take("other");
  const auto pair = a.Promoted({"input", "other"});
  return Selected(kOp(pair[0], pair[1]));
}

// Bounds are tensors or numbers, which have gradients of their own.
OpRun Clamp(Arguments& a) {
  a.Take("input");
  const auto all = a.Promoted({"input", "min", "max"});
  if (!all[1].defined() && !all[2].defined()) Throw<Unsupported>(a.op(), "without bounds");
  const bool tensors = a.Has("min") || a.Has("max") || !IsFloating(all[0].dtype());
  if (tensors) return Selected(ops::Clamp(all[0], all[1], all[2]));
  return Selected(
      ops::Clamp(all[0], a.attrs().OptionalNumber("min"), a.attrs().OptionalNumber("max")));
}

// Either of the two may be a number; an exponent that is one has roots of its own.
OpRun Pow(Arguments& a) {
  const auto pair = a.PromotedFloats({"input", "exponent"});
  if (!pair[0].defined() || !pair[1].defined())
    Throw<Unsupported>(a.op(), "without {}", pair[0].defined() ? "exponent" : "input");
  if (const auto exponent = a.attrs().OptionalNumber("exponent"))
    return Run(ops::Pow(pair[0], *exponent));
  return Run(ops::Pow(pair[0], pair[1]));
}

OpRun Where(Arguments& a) {
  const Variable condition = a.Take("condition");
  const auto pair = a.Promoted({"input", "other"});
  if (!pair[0].defined() || !pair[1].defined())
    Throw<Unsupported>(a.op(), "without {}", pair[0].defined() ? "other" : "input");
  return Selected(ops::Where(condition, pair[0], pair[1]));
}

// The value takes the input's dtype.
OpRun MaskedFill(Arguments& a) {
  const Variable input = a.Take("input"), mask = a.Take("mask");
  if (a.Has("value"))
    return Selected(ops::MaskedFill(input, mask, ops::Cast(a.Take("value"), input.dtype())));
  if (!a.attrs().Has("value")) Throw<Unsupported>(a.op(), "without value");
  return Selected(ops::MaskedFill(input, mask, a.attrs().Number("value", 0)));
}

template <Variable (*kOp)(const Variable&, int64_t)>
OpRun Triangle(Arguments& a) {
  return Selected(kOp(a.Take("input"), a.attrs().Int("diagonal", 0)));
}

}  // namespace

void AddSelections(OpTable& table) {
  table["maximum"] = OfTwo<ops::Maximum>;
  table["minimum"] = OfTwo<ops::Minimum>;
  table["clamp"] = Clamp;
  table["clip"] = Clamp;
  table["pow"] = Pow;
  table["where"] = Where;
  table["masked_fill"] = MaskedFill;
  table["tril"] = Triangle<ops::Tril>;
  table["triu"] = Triangle<ops::Triu>;
}

}  // namespace torus::replay
