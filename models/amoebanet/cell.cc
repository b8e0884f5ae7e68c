#include "models/amoebanet/cell.h"

#include "ops/elementwise/elementwise.h"
#include "ops/view/join.h"

namespace torus::amoebanet {
namespace {

using enum OperationKind;

// The input of each operation, as a state: 0 and 1 are the cell's inputs, 2 ... 6 the sums.
struct Step {
  int state;
  OperationKind kind;
};

struct Genotype {
  std::vector<Step> steps;  // two for each sum
  std::vector<int> concat;  // the states in the output
};

// As in TensorFlow's implementation, where a normal cell's output differs from the paper's. With it
// the numbers of parameters are those of Huang et al. 2019, table 1.
const Genotype& GenotypeOf(bool reduction) {
  static const Genotype normal{{{1, kConv1x1},
                                {1, kMaxPool3x3},
                                {1, kNone},
                                {0, kConv1x7_7x1},
                                {0, kConv1x1},
                                {0, kConv1x7_7x1},
                                {2, kMaxPool3x3},
                                {2, kNone},
                                {1, kAvgPool3x3},
                                {5, kConv1x1}},
                               {0, 3, 4, 6}};
  static const Genotype reduce{{{0, kMaxPool2x2},
                                {0, kMaxPool3x3},
                                {2, kNone},
                                {1, kConv3x3},
                                {2, kConv1x7_7x1},
                                {2, kMaxPool3x3},
                                {3, kNone},
                                {1, kMaxPool2x2},
                                {2, kAvgPool3x3},
                                {3, kConv1x1}},
                               {4, 5, 6}};
  return reduction ? reduce : normal;
}

std::shared_ptr<nn::Module> Pointwise(int64_t in, int64_t out, DType dtype) {
  return std::make_shared<ReluConvNorms>(
      std::vector<nn::Conv2dOptions>{{.in = in, .out = out, .dtype = dtype}});
}

}  // namespace

Cell::Cell(const CellOptions& o) : options_(o) {
  reduce_last_ = AddChild("reduce1", Pointwise(o.last, o.channels, o.dtype));
  if (o.reduction_before)
    reduce_before_last_ =
        AddChild("reduce2", std::make_shared<FactorizedReduce>(o.before_last, o.channels, o.dtype));
  else if (o.before_last != o.channels)
    reduce_before_last_ = AddChild("reduce2", Pointwise(o.before_last, o.channels, o.dtype));
  for (const Step& step : GenotypeOf(o.reduction).steps) {
    const int64_t stride = o.reduction && step.state < 2 ? 2 : 1;
    operations_.push_back(AddChild(fmt::format("operations.{}.module", operations_.size()),
                                   MakeOperation(step.kind, o.channels, stride, o.dtype)));
  }
}

int64_t Cell::out() const {
  return options_.channels * static_cast<int64_t>(GenotypeOf(options_.reduction).concat.size());
}

Variable Cell::Forward(const Variable& x, const StepContext& ctx) {
  return ForwardAll({x}, ctx)[0];
}

std::vector<Variable> Cell::ForwardAll(const std::vector<Variable>& inputs,
                                       const StepContext& ctx) {
  const Genotype& genotype = GenotypeOf(options_.reduction);
  const Variable& before_last = inputs.size() > 1 ? inputs[1] : inputs[0];
  std::vector<Variable> states{
      reduce_last_->Forward(inputs[0], ctx),
      reduce_before_last_ ? reduce_before_last_->Forward(before_last, ctx) : before_last};
  for (size_t i = 0; i < operations_.size(); i += 2) {
    const Variable left = operations_[i]->Forward(states[genotype.steps[i].state], ctx);
    const Variable right = operations_[i + 1]->Forward(states[genotype.steps[i + 1].state], ctx);
    states.push_back(ops::Add(left, right));
  }
  std::vector<Variable> parts;
  for (const int state : genotype.concat) parts.push_back(states[state]);
  return {ops::Cat(parts, 3), inputs[0]};
}

}  // namespace torus::amoebanet
