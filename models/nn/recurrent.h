// Lstm (Hochreiter and Schmidhuber 1997; Gers et al. 2000 for the forget gate) and Gru (Cho et al.
// 2014), as torch.nn.LSTM and GRU. One product computes the inputs' part of all steps; each step
// then takes a product of the hidden state.
#pragma once

#include <vector>

#include "models/nn/module.h"

namespace torus::nn {

// Defaults are torch.nn.LSTM's. Members without a comment are its arguments; dtype is that of the
// parameters.
struct RecurrentOptions {
  int64_t input_size = 0, hidden_size = 0;
  int64_t num_layers = 1;  // each reads the output of the one below
  bool bias = true;
  bool batch_first = false;    // of input and output alone, not of the state
  double dropout = 0;          // of the outputs of all layers but the last, in training
  bool bidirectional = false;  // also from the last step to the first; outputs are joined
  int64_t proj_size = 0;       // LSTM: the hidden state is projected to this width; 0: it is not
  uint64_t dropout_layer = 0;  // the number of the first of num_layers - 1 dropouts (dropout.h)
  DType dtype = DType::kF32;
};

// States of all layers and directions: entry layer D + direction of dimension 0, where D is 2 if
// bidirectional, else 1. In h the width is proj_size if there is a projection.
struct RecurrentState {
  Variable h;  // (num_layers D, N, hidden_size)
  Variable c;  // likewise; undefined for GRU
};

// What a recurrent layer gives for a batch of sequences.
struct RecurrentOutput {
  // h of the last layer in every step: (T, N, D width) or (N, T, D width).
  Variable output;
  RecurrentState state;  // behind the last step of each direction
};

// What both have in common. Parameters of layer k: weight_ih_lk (gates hidden, in), weight_hh_lk
// (gates hidden, hidden), bias_ih_lk and bias_hh_lk (gates hidden), and weight_hr_lk (proj, hidden)
// with a projection; those of the other direction end in _reverse. Initial values are uniform
// within 1 / sqrt(hidden_size) of zero.
class Recurrent : public Module {
 public:
  // The input is (T, N, input_size), or (N, T, input_size) with batch_first; T is at least 1. An
  // undefined state is zeros. Throws BadInput for other shapes.
  RecurrentOutput Run(const Variable& input, const RecurrentState& initial, const StepContext& ctx);
  // The output from a state of zeros.
  Variable Forward(const Variable& x, const StepContext& ctx) override;

 protected:
  // The parameters of one layer in one direction; biases and projection may be undefined.
  struct Cell {
    // Named as above, without layer and direction.
    Variable weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
  };
  // The state between two steps.
  struct CellState {
    Variable h, c;  // (N, width); c is undefined for GRU
  };

  // Throws BadInput tagged `name` for options out of range.
  Recurrent(const char* name, const RecurrentOptions& options, int64_t gates);
  // One step; `from_input` (N, gates hidden) is the inputs' part of the gates.
  virtual CellState Step(const Cell& cell, const Variable& from_input,
                         const CellState& before) const = 0;
  // The hidden states (T, N, width) of all steps, in the order of the input's; `state` is that of
  // the last one. By Step, one after another, unless a layer has an op for all.
  virtual Variable Steps(const Cell& cell, const Variable& x, bool reverse, CellState& state) const;

 private:
  int64_t Directions() const { return options_.bidirectional ? 2 : 1; }
  int64_t Width() const;  // of h
  Cell AddCell(int64_t layer, bool reverse);
  // x (T, N, ...), in training with dropout, for the layer of that number.
  Variable Dropped(int64_t layer, const Variable& x, const StepContext& ctx) const;
  // The outputs (T, N, D width) of one layer; takes and replaces its states.
  Variable Layer(int64_t layer, const Variable& x, std::vector<CellState>& states) const;
  std::vector<CellState> StatesOf(const RecurrentState& given, const Variable& x) const;
  Variable StateOf(const Variable& given, const char* what, int64_t width, const Variable& x) const;

  const char* name_;
  RecurrentOptions options_;
  int64_t gates_;
  bool has_c_;
  std::vector<Cell> cells_;  // by layer and direction
};

// As torch.nn.LSTM; gates are in the order i, f, g, o.
class Lstm : public Recurrent {
 public:
  explicit Lstm(const RecurrentOptions& options) : Recurrent("lstm", options, 4) {}

 protected:
  CellState Step(const Cell& cell, const Variable& from_input,
                 const CellState& before) const override;
  Variable Steps(const Cell& cell, const Variable& x, bool reverse,
                 CellState& state) const override;
};

// As torch.nn.GRU; gates are in the order r, z, n.
class Gru : public Recurrent {
 public:
  // Throws BadInput for a projection.
  explicit Gru(const RecurrentOptions& options) : Recurrent("gru", options, 3) {}

 protected:
  CellState Step(const Cell& cell, const Variable& from_input,
                 const CellState& before) const override;
};

}  // namespace torus::nn
