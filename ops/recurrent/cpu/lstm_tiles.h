// A step of an LSTM in f32: the product of the hidden state and the cells behind it, in one pass
// over tiles.
#pragma once

#include <cstdint>

namespace torus::cpu {

// Of a product a tile is at most `rows` rows times four vectors of `lanes` elements.
struct LstmTile {
  int64_t rows, lanes;
};
LstmTile LstmTileSize();

// A step of `rows` rows. A tile has a vector of units, of each gate one. `weights` are packed: for
// each vector of units hidden rows of four vectors, which are a column of the weight's four gates;
// zeros where there are no units.
struct LstmStep {
  int64_t rows, hidden;
  const float *x, *h, *c;  // (rows, 4 hidden), then (rows, hidden)
  const float* weights;
  float *gates, *next_h, *next_c;
};

// The gradients of a step. A tile has four vectors of units. `weights` are packed: for each four
// vectors of units the weight's 4 hidden rows, with zeros where there are no units.
struct LstmStepBackward {
  int64_t rows, hidden;
  const float *gates, *c, *next_c;
  const float* dh;          // of the step's output alone
  const float* dx_of_next;  // the gradient of x in the next step; null: there is none
  const float* weights;
  float *dx, *dc;  // dc holds the gradient of next_c
};

// How many tiles these rows and units have if a tile has so many of them.
int64_t LstmTileCount(int64_t rows, int64_t hidden, int64_t units);

// Tiles [begin, end). Those of the same units follow each other. They are independent, so no split
// of them changes bits.
void LstmTiles(const LstmStep& step, int64_t begin, int64_t end);
void LstmTilesBackward(const LstmStepBackward& step, int64_t begin, int64_t end);

}  // namespace torus::cpu
