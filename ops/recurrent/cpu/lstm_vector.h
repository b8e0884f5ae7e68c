// Vectorized f32 rows of an LSTM's cells.
#pragma once

#include "ops/recurrent/lstm_functors.h"

namespace torus::cpu {

// Do what the functors do, for all elements of rows [begin, end).
void LstmForwardRows(const ops::LstmForward<float>& cell, int64_t begin, int64_t end);
void LstmBackwardRows(const ops::LstmBackward<float>& cell, int64_t begin, int64_t end);

}  // namespace torus::cpu
