#include "ops/recurrent/lstm.h"

#include <utility>
#include <vector>

#include "autograd/node.h"
#include "autograd/precision.h"
#include "autograd/saved_activation.h"
#include "autograd/undefined_input.h"
#include "ops/matmul/linear.h"
#include "ops/recurrent/kernels.h"
#include "ops/recurrent/lstm_cell.h"
#include "ops/recurrent/lstm_order.h"
#include "ops/view/join.h"
#include "runtime/dispatch.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::ops {
namespace {

void Check(const Variable& from_input, const Variable& weight, const Variable& h,
           const Variable& c) {
  RequireDefined("lstm", from_input, weight, h, c);
  Require(c.rank() == 2 && h.shape() == c.shape() && from_input.rank() == 3 &&
              from_input.dim(0) >= 1 &&
              from_input.shape() == Shape({from_input.dim(0), c.dim(0), 4 * c.dim(1)}) &&
              weight.shape() == Shape({4 * c.dim(1), c.dim(1)}),
          "lstm",
          "needs gates (T, N, 4 H) of a step or more, a weight (4 H, H), and h and c (N, H), "
          "got {}, {}, {} and {}",
          from_input.shape(), weight.shape(), h.shape(), c.shape());
}

// Packing the weight pays from so many steps on.
constexpr int64_t kStepsToPack = 8;

bool Fuses(const Variable& from_input, const Variable& weight, const Variable& h,
           const Variable& c) {
  for (const Variable* v : {&from_input, &weight, &h, &c})
    if (v->dtype() != DType::kF32) return false;
  return WithPrecision::Current() == DType::kF32 && from_input.dim(0) >= kStepsToPack &&
         kernels::FusesLstmSteps(
             CommonDevice("lstm", from_input.data(), weight.data(), h.data(), c.data()));
}

LstmOutput Composed(const Variable& from_input, const Variable& weight, const Variable& h,
                    const Variable& c, bool reverse) {
  const std::vector<Variable> inputs = Unbind(from_input);
  std::vector<Variable> outputs(inputs.size());
  LstmCellState state{h, c};
  for (int64_t i = 0; i < std::ssize(inputs); ++i) {
    const auto time = static_cast<size_t>(LstmPlaceOf(i, std::ssize(inputs), reverse).time);
    state = LstmCell(inputs[time], Linear(state.h, weight), state.c);
    outputs[time] = state.h;
  }
  return {Stack(outputs), state.c};
}

// Tensors of all states (lstm_order.h), of which the initial one is there.
Tensor StatesFrom(const Variable& initial, int64_t steps, bool reverse) {
  Tensor states({steps + 1, initial.dim(0), initial.dim(1)}, initial.dtype(),
                initial.data().device());
  Tensor first = states.Select(0, LstmPlaceOf(0, steps, reverse).before);
  Copy(initial.data(), first);
  return states;
}

struct ForBackward {
  Saved gates, weight, c;
  SavedActivation h;  // before all steps; undefined if the weight's gradient is not wanted
  bool reverse;
};

Gradients Rule(const ForBackward& saved, const GradContext& g) {
  const Tensor &gates = saved.gates.get(), &weight = saved.weight.get(), &c = saved.c.get();
  const int64_t steps = gates.dim(0);
  const Shape state{c.dim(1), c.dim(2)};
  const Tensor dh =
      g.grad(0).defined() ? g.grad(0) : Zeros({steps, state[0], state[1]}, c.dtype(), c.device());
  Tensor dc = g.grad(1).defined() ? g.grad(1).Clone() : Zeros(state, c.dtype(), c.device());
  Tensor dx(gates.shape(), gates.dtype(), gates.device());
  kernels::LstmStepsBackward(gates, weight, c, dh, saved.reverse, dx, dc);
  Gradients gradients{dx, {}, {}, dc};
  if (g.wants(1)) {
    gradients[1] = Tensor(weight.shape(), weight.dtype(), weight.device());
    kernels::LstmWeightGradient(dx, saved.h.get(), gradients[1]);
  }
  if (g.wants(2)) {
    gradients[2] = Tensor(state, c.dtype(), c.device());
    const int64_t first = LstmPlaceOf(0, steps, saved.reverse).time;
    kernels::LstmStateGradient(dx.Select(0, first), weight, gradients[2]);
  }
  return gradients;
}

LstmOutput Fused(const Variable& from_input, const Variable& weight, const Variable& h,
                 const Variable& c, bool reverse) {
  const std::vector<Variable> inputs{from_input, weight, h, c};
  const Tensor x = from_input.data().Contiguous(), w = weight.data().Contiguous();
  const int64_t steps = x.dim(0);
  Tensor hs = StatesFrom(h, steps, reverse), cs = StatesFrom(c, steps, reverse);
  // Without a backward all steps write their gates to the same place.
  Tensor gates = Tensor({NeedsGrad(inputs) ? steps : 1, x.dim(1), x.dim(2)}, x.dtype(), x.device())
                     .Expand(x.shape());
  kernels::LstmSteps(x, w, reverse, hs, cs, gates);
  const Tensor before = hs.Narrow(0, reverse ? 1 : 0, steps);
  const int64_t last = LstmPlaceOf(steps - 1, steps, reverse).after;
  const std::vector<Variable> outputs =
      RecordMany("lstm", {hs.Narrow(0, reverse ? 0 : 1, steps), cs.Select(0, last).Clone()}, inputs,
                 [saved = ForBackward{Saved(gates), Saved(w), Saved(cs),
                                      SavedActivation(weight.requires_grad() ? before : Tensor()),
                                      reverse}](const GradContext& g) { return Rule(saved, g); });
  return {outputs[0], outputs[1]};
}

}  // namespace

LstmOutput Lstm(const Variable& from_input, const Variable& weight, const Variable& h,
                const Variable& c, bool reverse) {
  Check(from_input, weight, h, c);
  return (Fuses(from_input, weight, h, c) ? Fused : Composed)(from_input, weight, h, c, reverse);
}

}  // namespace torus::ops
