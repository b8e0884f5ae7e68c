// Clipping gradients by their global norm (Pascanu, Mikolov and Bengio 2013, "On the difficulty of
// training recurrent neural networks", algorithm 1), as torch.nn.utils.clip_grad_norm_ does.
//
// The squares of each parameter are summed separately, in blocks of fixed size, and these sums are
// added in model order. A pipeline's stages compute their parameters' sums and exchange them, so
// they get the same bits wherever the model is cut.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "autograd/variable.h"
#include "parallel/optim/norm_block.h"

namespace torus::parallel {

// Sum of squares of each block of kNormBlock elements, in f64; the last block may be shorter. f32
// or f64, contiguous.
std::vector<double> SquaredBlockNorms(const Tensor& gradient);

// Sum of squares of each parameter's gradient, in f64; 0 if there is none. For f32 and f64
// gradients. The bits are the same for every team size, and on every GPU of the same model.
std::vector<double> SquaredGradientNorms(const std::vector<NamedVariable>& parameters);

// The same in two halves: StartSquaredNorms computes on the gradients' device without waiting for a
// GPU; SquaredNormsFrom waits and reads the result, for the same parameters. The first half can be
// recorded in a graph (runtime/gpu_graph.h), and the result read after each launch.
Tensor StartSquaredNorms(const std::vector<NamedVariable>& parameters);
std::vector<double> SquaredNormsFrom(const Tensor& started,
                                     const std::vector<NamedVariable>& parameters);

// Square root of the sum of `squares`, added from first to last.
double GlobalNorm(std::span<const double> squares);

// The norm of all gradients together. A step that clips it to 1:
//
//   optimizer.Step(rate, ClipScale(GradientNorm(optimizer.parameters()), 1));
double GradientNorm(const std::vector<NamedVariable>& parameters);

// What to multiply gradients by (Optimizer::Step's gradient_scale): min(1, max_norm / (norm +
// 1e-6)). NaN for a norm that is NaN. Throws BadInput unless max_norm is positive.
double ClipScale(double norm, double max_norm);

}  // namespace torus::parallel
