// All steps of an LSTM's layer in one direction.
#pragma once

#include "autograd/variable.h"

namespace torus::ops {

// The states of a layer.
struct LstmOutput {
  Variable h;  // (T, N, hidden): behind each step, in the order of the input
  Variable c;  // (N, hidden): behind the step that is taken last
};

// From from_input (T, N, 4 hidden), the inputs' part of the gates with all biases, weight (4
// hidden, hidden), and the initial states h and c (N, hidden). Step t makes of them LstmCell
// (lstm_cell.h) of from_input[t], Linear(h, weight) and c. The first step is t = T - 1 if
// `reverse`, else 0. f32 or f64, all of one dtype, any strides. Throws BadInput for no step and for
// other shapes and dtypes.
//
// On CPUs one op takes all steps in f32, from 8 steps on: it packs the weight once, and computes its
// gradient in one product. No team size changes its bits. Else this is composed of its steps.
LstmOutput Lstm(const Variable& from_input, const Variable& weight, const Variable& h,
                const Variable& c, bool reverse = false);

}  // namespace torus::ops
