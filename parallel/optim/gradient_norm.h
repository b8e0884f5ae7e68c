// Clipping gradients by their global norm (Pascanu, Mikolov and Bengio 2013, "On the difficulty of
// training recurrent neural networks", algorithm 1), as torch.nn.utils.clip_grad_norm_ does.
//
// The squares of each parameter are summed apart, in blocks of fixed size, and the sums in the
// order of the model: a pipeline's stages compute their parameters' sums, exchange them, and reach
// the same bits wherever the model is cut.
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

// Sum of squares of each parameter's gradient, in f64; 0 where there is none. f32 and f64
// gradients. The same for every team size, and on every GPU of a kind.
std::vector<double> SquaredGradientNorms(const std::vector<NamedVariable>& parameters);

// The same in two halves: begun where the gradients lie, without a wait for a GPU; and read, with
// one, for the same parameters. What is begun can be recorded (runtime/graph.h) and read behind
// each launch.
Tensor StartSquaredNorms(const std::vector<NamedVariable>& parameters);
std::vector<double> SquaredNormsFrom(const Tensor& started,
                                     const std::vector<NamedVariable>& parameters);

// Square root of the sum, added from the first to the last.
double GlobalNorm(std::span<const double> squares);

// What to multiply gradients by (Optimizer::Step's gradient_scale): min(1, max_norm / (norm +
// 1e-6)). NaN for a norm that is NaN. BadInput unless max_norm is positive.
double ClipScale(double norm, double max_norm);

}  // namespace torus::parallel
