// Labs "gpipe" and "1f1b": the order of work in a pipeline of stages, one a rank, rank 0 the first.
// You write RunStage: what one rank does for one mini-batch of M = stage.micro_batches().
//
// Between stages go activations of stage.width() floats forward, and gradients of as many back;
// the first stage has its own inputs and the last its own loss. Every micro-batch goes forward and
// back once through every stage, in ascending order both ways: 0, 1, ..., M - 1. In the end each
// stage takes one step with the mean of its gradients over the micro-batches. P is wire.size().
//
//   gpipe  (Huang et al. 2019, "GPipe"): all forwards, and then all backwards
//   1f1b   (Narayanan et al. 2019, "PipeDream", its synchronous form): rank r begins with
//          min(M, P - 1 - r) forwards; then a forward and a backward in turn; then the backwards
//          that are left. So it keeps at most P - r micro-batches' activations
//
// What is graded:
//   values   the weights after the step
//   order    of forwards and backwards on each rank
//   time     a forward takes 1 s and a backward 2 s on a virtual clock, messages none: the
//            mini-batch takes (M + P - 1) 3 s
//   bytes    each activation and each gradient crosses a link once
//   memory   the activations that a stage keeps, and the room of your own: a few messages
#pragma once

#include <cstddef>
#include <span>

#include "lab_wire.h"

namespace lab {

class Stage {
 public:
  virtual ~Stage() = default;
  virtual int micro_batches() const = 0;
  virtual size_t width() const = 0;

  // The forward of `micro_batch`, whose activations are kept until its backward. The first stage
  // does not read `in`, which may be empty there; `out` is also the last stage's.
  virtual void Forward(int micro_batch, std::span<const float> in, std::span<float> out) = 0;
  // Its backward: adds to the gradients of the stage's weights. The last stage does not read
  // `gradient_of_out`, which may be empty there; the first does not write `gradient_of_in`.
  virtual void Backward(int micro_batch, std::span<const float> gradient_of_out,
                        std::span<float> gradient_of_in) = 0;
  // weights -= rate * factor * the sum of the gradients, which then begins anew.
  virtual void Step(float factor) = 0;
};

void RunStage(Stage& stage, Wire& wire);

}  // namespace lab
