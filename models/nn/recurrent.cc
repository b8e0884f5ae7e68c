#include "models/nn/recurrent.h"

#include "ops/activation/activation.h"
#include "ops/dropout/dropout.h"
#include "ops/elementwise/elementwise.h"
#include "ops/matmul/linear.h"
#include "ops/recurrent/lstm.h"
#include "ops/recurrent/lstm_cell.h"
#include "ops/view/join.h"
#include "ops/view/view.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

void Check(const char* name, const RecurrentOptions& o, bool projects) {
  Require(o.input_size >= 1 && o.hidden_size >= 1 && o.num_layers >= 1, name,
          "needs an input, a hidden state and a layer, got sizes {} and {}, "
          "and {} layers",
          o.input_size, o.hidden_size, o.num_layers);
  Require(o.dropout >= 0 && o.dropout <= 1, name, "dropout must lie in 0 to 1, got {}", o.dropout);
  const int64_t most = projects ? o.hidden_size - 1 : 0;
  Require(o.proj_size >= 0 && o.proj_size <= most, name, "proj_size must lie in 0 to {}, got {}",
          most, o.proj_size);
}

// Steps and samples change places.
Variable Turned(const Variable& x) { return ops::Transpose(x, 0, 1); }

}  // namespace

Recurrent::Recurrent(const char* name, const RecurrentOptions& options, int64_t gates)
    : name_(name), options_(options), gates_(gates), has_c_(gates == 4) {
  Check(name, options, has_c_);
  for (int64_t layer = 0; layer < options.num_layers; ++layer)
    for (int64_t d = 0; d < Directions(); ++d) cells_.push_back(AddCell(layer, d == 1));
}

int64_t Recurrent::Width() const {
  return options_.proj_size > 0 ? options_.proj_size : options_.hidden_size;
}

Recurrent::Cell Recurrent::AddCell(int64_t layer, bool reverse) {
  const int64_t hidden = options_.hidden_size, rows = gates_ * hidden;
  const int64_t in = layer == 0 ? options_.input_size : Directions() * Width();
  const auto add = [&](const char* kind, const Shape& shape) {
    return AddParameter(fmt::format("{}_l{}{}", kind, layer, reverse ? "_reverse" : ""), shape,
                        options_.dtype, UniformFanIn(hidden));
  };
  Cell cell{.weight_ih = add("weight_ih", {rows, in}),
            .weight_hh = add("weight_hh", {rows, Width()})};
  if (options_.bias) {
    cell.bias_ih = add("bias_ih", {rows});
    cell.bias_hh = add("bias_hh", {rows});
  }
  if (options_.proj_size > 0) cell.weight_hr = add("weight_hr", {Width(), hidden});
  return cell;
}

Variable Recurrent::Steps(const Cell& cell, const Variable& x, bool reverse,
                          CellState& state) const {
  const std::vector<Variable> inputs =
      ops::Split(ops::Linear(x, cell.weight_ih, cell.bias_ih), 1, 0);
  std::vector<Variable> outputs(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t at = reverse ? inputs.size() - 1 - i : i;
    state = Step(cell, ops::Squeeze(inputs[at], {0}), state);
    outputs[at] = state.h;
  }
  return ops::Stack(outputs);
}

// Dropout takes samples in dimension 0.
Variable Recurrent::Dropped(int64_t layer, const Variable& x, const StepContext& ctx) const {
  if (!ctx.training || options_.dropout == 0) return x;
  const uint64_t number = options_.dropout_layer + static_cast<uint64_t>(layer - 1);
  return Turned(ops::Dropout(Turned(x), options_.dropout, ctx, number));
}

Variable Recurrent::Layer(int64_t layer, const Variable& x, std::vector<CellState>& states) const {
  std::vector<Variable> directions;
  for (int64_t d = 0; d < Directions(); ++d) {
    const auto at = static_cast<size_t>(layer * Directions() + d);
    directions.push_back(Steps(cells_[at], x, d == 1, states[at]));
  }
  return directions.size() == 1 ? directions[0] : ops::Cat(directions, -1);
}

Variable Recurrent::StateOf(const Variable& given, const char* what, int64_t width,
                            const Variable& x) const {
  const Shape shape{std::ssize(cells_), x.dim(1), width};
  if (!given.defined()) return Variable(Zeros(shape, x.dtype(), x.data().device()));
  Require(given.shape() == shape, name_, "the initial {} must have shape {}, got {}", what, shape,
          given.shape());
  return given;
}

std::vector<Recurrent::CellState> Recurrent::StatesOf(const RecurrentState& given,
                                                      const Variable& x) const {
  Require(has_c_ || !given.c.defined(), name_, "has no cell state c");
  std::vector<Variable> h = ops::Split(StateOf(given.h, "h", Width(), x), 1, 0), c(h.size());
  if (has_c_) c = ops::Split(StateOf(given.c, "c", options_.hidden_size, x), 1, 0);
  std::vector<CellState> states;
  for (size_t i = 0; i < h.size(); ++i)
    states.push_back({ops::Squeeze(h[i], {0}), has_c_ ? ops::Squeeze(c[i], {0}) : Variable()});
  return states;
}

RecurrentOutput Recurrent::Run(const Variable& input, const RecurrentState& initial,
                               const StepContext& ctx) {
  Require(input.rank() == 3 && input.dim(2) == options_.input_size, name_,
          "needs an input of three dimensions, the last {}, got {}", options_.input_size,
          input.shape());
  RequireValues(name_, input);
  Variable x = options_.batch_first ? Turned(input) : input;
  Require(x.dim(0) >= 1, name_, "needs at least one step, got {}", input.shape());
  std::vector<CellState> states = StatesOf(initial, x);
  for (int64_t layer = 0; layer < options_.num_layers; ++layer) {
    if (layer > 0) x = Dropped(layer, x, ctx);
    x = Layer(layer, x, states);
  }
  std::vector<Variable> h, c;
  for (const CellState& state : states) {
    h.push_back(state.h);
    c.push_back(state.c);
  }
  return {options_.batch_first ? Turned(x) : x,
          {ops::Stack(h), has_c_ ? ops::Stack(c) : Variable()}};
}

Variable Recurrent::Forward(const Variable& x, const StepContext& ctx) {
  return Run(x, {}, ctx).output;
}

Lstm::CellState Lstm::Step(const Cell& cell, const Variable& from_input,
                           const CellState& before) const {
  const Variable from_state = ops::Linear(before.h, cell.weight_hh, cell.bias_hh);
  const auto [h, c] = ops::LstmCell(from_input, from_state, before.c);
  return {cell.weight_hr.defined() ? ops::Linear(h, cell.weight_hr) : h, c};
}

// A projection lies between two steps; without it one op takes all of them. Both biases are then
// added to the inputs' part.
Variable Lstm::Steps(const Cell& cell, const Variable& x, bool reverse, CellState& state) const {
  if (cell.weight_hr.defined()) return Recurrent::Steps(cell, x, reverse, state);
  const Variable bias = cell.bias_ih.defined() ? ops::Add(cell.bias_ih, cell.bias_hh) : Variable();
  const ops::LstmOutput y =
      ops::Lstm(ops::Linear(x, cell.weight_ih, bias), cell.weight_hh, state.h, state.c, reverse);
  const Variable last = ops::Narrow(y.h, 0, reverse ? 0 : x.dim(0) - 1, 1);
  state = {ops::Squeeze(last, {0}), y.c};
  return y.h;
}

// Gates r, z and n: n' = tanh(n + sigmoid(r) n of h), h' = n' + sigmoid(z) (h - n').
Gru::CellState Gru::Step(const Cell& cell, const Variable& from_input,
                         const CellState& before) const {
  const Variable from_state = ops::Linear(before.h, cell.weight_hh, cell.bias_hh);
  const int64_t hidden = from_input.dim(1) / 3;
  const std::vector<Variable> x = ops::Split(from_input, {2 * hidden, hidden}, 1);
  const std::vector<Variable> s = ops::Split(from_state, {2 * hidden, hidden}, 1);
  const std::vector<Variable> of = ops::Split(ops::Sigmoid(ops::Add(x[0], s[0])), hidden, 1);
  const Variable n = ops::Tanh(ops::Add(x[1], ops::Mul(of[0], s[1])));
  return {ops::Add(n, ops::Mul(of[1], ops::Sub(before.h, n))), {}};
}

}  // namespace torus::nn
