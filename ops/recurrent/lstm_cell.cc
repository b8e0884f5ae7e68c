#include "ops/recurrent/lstm_cell.h"

#include "autograd/node.h"
#include "ops/precision/in_precision.h"
#include "ops/recurrent/kernels.h"
#include "ops/view/join.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

void Check(const Variable& from_input, const Variable& from_state, const Variable& c) {
  Require(c.rank() == 2 && from_input.shape() == Shape({c.dim(0), 4 * c.dim(1)}) &&
              from_state.shape() == from_input.shape(),
          "lstm_cell", "needs gates (N, 4 H) twice and c (N, H), got {}, {} and {}",
          from_input.shape(), from_state.shape(), c.shape());
  Require(from_input.dtype() == c.dtype() && from_state.dtype() == c.dtype(), "lstm_cell",
          "needs one dtype, got {}, {} and {}", from_input, from_state, c);
}

// (2, N, hidden): h' and c'.
Variable BothOf(const Variable& from_input, const Variable& from_state, const Variable& state) {
  Check(from_input, from_state, state);
  const Tensor x = from_input.data().Contiguous(), s = from_state.data().Contiguous(),
               c = state.data().Contiguous();
  const Device device = CommonDevice("lstm_cell", x, s, c);
  Tensor gates(x.shape(), x.dtype(), device), out({2, c.dim(0), c.dim(1)}, c.dtype(), device);
  kernels::LstmCell(x, s, c, gates, out);
  return Record("lstm_cell", out, {from_input, from_state, state},
                [gates = Saved(gates), c = Saved(c), out = Saved(out)](const GradContext& g) {
                  Tensor dgates(gates.get().shape(), g.grad().dtype(), g.grad().device());
                  Tensor dc(c.get().shape(), g.grad().dtype(), g.grad().device());
                  kernels::LstmCellBackward(gates.get(), c.get(), out.get(), g.grad(), dgates, dc);
                  return Gradients{dgates, dgates, dc};
                });
}

}  // namespace

LstmCellState LstmCell(const Variable& from_input, const Variable& from_state, const Variable& c) {
  const std::vector<Variable> both =
      Split(InPrecision("lstm_cell", BothOf, from_input, from_state, c), 1, 0);
  return {Squeeze(both[0], {0}), Squeeze(both[1], {0})};
}

}  // namespace torus::ops
