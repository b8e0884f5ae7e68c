// The precision policy: the single table of the dtypes in which ops compute.
#pragma once

#include <string_view>

namespace torus::ops {

// The dtypes of an op's floating inputs and of its output while a WithPrecision makes ops compute
// in a low type, bf16. All sums are f32.
enum class Policy {
  kLow,        // inputs and output low: products, convolutions, attention
  kLowInputs,  // inputs low, output f32: a product followed by a loss
  kLowOutput,  // inputs as they are, computed in f32, output low: normalisation of rows
  kFull,       // inputs and output f32: losses, softmax, reductions, powers
  kWidest,     // inputs and output in the widest type of the inputs; computed in f32
  kFirst,      // output in the type of the first input; computed in f32
  kAny,        // moves values of any type, or sums them over ranks in f32; output in that type
  kComposed,   // runs as the ops that it is composed of
};

// The policy of the op that is recorded under this name. Throws BadInput if the table lacks it.
Policy PolicyOf(std::string_view op);

}  // namespace torus::ops
