// A cell of AmoebaNet-D: five sums of two operations each, on its two inputs and the sums before;
// those of the genotype are put out side by side.
#pragma once

#include <memory>
#include <vector>

#include "models/amoebanet/operation.h"

namespace torus::amoebanet {

struct CellOptions {
  int64_t before_last = 0, last = 0;  // channels that the two cells before put out
  int64_t channels = 0;               // of each operation
  bool reduction = false;             // halves height and width
  bool reduction_before = false;  // the cell before did, so that its input is still twice as large
  DType dtype = DType::kF32;
};

// Children "reduce1", "reduce2" where it is needed, and "operations.0.module" ... Height and width
// of a reduction's input must be even.
class Cell : public nn::Module {
 public:
  explicit Cell(const CellOptions& options);
  Variable Forward(const Variable& x, const StepContext& ctx) override;
  // {output of the cell before, of the one before it} to {output, output of the cell before}. Of
  // the stem alone, {x} stands for both.
  std::vector<Variable> ForwardAll(const std::vector<Variable>& inputs,
                                   const StepContext& ctx) override;
  nn::LayerCost Cost(const Shape& input) const override;
  int64_t out() const;  // channels

 private:
  CellOptions options_;
  std::shared_ptr<nn::Module> reduce_last_, reduce_before_last_;  // the latter null: the identity
  std::vector<std::shared_ptr<nn::Module>> operations_;
};

}  // namespace torus::amoebanet
