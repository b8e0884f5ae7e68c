// A cell of AmoebaNet-D: five sums of two operations each. An operation reads one of the cell's two
// inputs or an earlier sum; the output is some of the sums, concatenated along the channels.
#pragma once

#include <memory>
#include <vector>

#include "models/amoebanet/operation.h"

namespace torus::amoebanet {

struct CellOptions {
  int64_t before_last = 0, last = 0;  // output channels of the two layers before
  int64_t channels = 0;               // of each operation
  bool reduction = false;             // halves height and width
  // The previous cell is a reduction, so the output of the layer before it is twice as high and
  // wide.
  bool reduction_before = false;
  DType dtype = DType::kF32;
};

// Children: "reduce1", "reduce2" if needed, and "operations.0.module" ... A reduction needs an
// input of even height and width.
class Cell : public nn::Module {
 public:
  explicit Cell(const CellOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // Maps {last output, the output before it} to {own output, last output}. The first cell, right
  // after the stem, gets {x} and uses it as both.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  int64_t out() const;  // channels

 private:
  CellOptions options_;
  std::shared_ptr<nn::Module> reduce_last_, reduce_before_last_;  // null: the identity
  std::vector<std::shared_ptr<nn::Module>> operations_;
};

}  // namespace torus::amoebanet
