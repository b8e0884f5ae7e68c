// Labs "gpipe" and "1f1b": the order of work in a pipeline. Each rank runs one stage; rank 0 runs
// the first. You write RunStage: what one rank does for one mini-batch of M = stage.micro_batches()
// micro-batches.
//
// For each micro-batch, a stage sends stage.width() activations to the next stage, and as many
// gradients to the previous one. The first stage has its own inputs, and the last its own loss.
// Every micro-batch passes forward and backward through every stage once, both in the order 0, 1,
// ..., M - 1. In the end each stage takes one step with the mean of its gradients over the
// micro-batches: Step(1 / M). P = wire.size() is the number of stages.
//
//   gpipe  (Huang et al. 2019, "GPipe"): all forwards, then all backwards
//   1f1b   (Narayanan et al. 2019, "PipeDream", in its synchronous form): rank r starts with
//          min(M, P - 1 - r) forwards. Then it alternates one forward and one backward, and ends
//          with the remaining backwards. So it keeps the activations of at most P - r micro-batches
//
// What is graded:
//   values   the weights after the step
//   order    the order of forwards and backwards on each rank
//   time     on a virtual clock, where a forward takes 1 s, a backward 2 s and messages no time,
//            the mini-batch takes (M + P - 1) 3 s
//   bytes    each activation and each gradient crosses a link once
//   memory   how many micro-batches' activations a stage keeps; and what RunStage itself allocates:
//            at most four messages of width() floats, and 4096 bytes
//   leak     nothing stays allocated from one mini-batch to the next
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

  // Runs the forward of `micro_batch` and keeps its activations until its backward. The first stage
  // does not read `in`, which may be empty there. `out` has width() floats on every stage, the last
  // one too.
  virtual void Forward(int micro_batch, std::span<const float> in, std::span<float> out) = 0;
  // Runs the backward of `micro_batch`, which adds to the gradients of the stage's weights. The
  // last stage does not read `gradient_of_out`, and the first does not write `gradient_of_in`;
  // these may be empty there.
  virtual void Backward(int micro_batch, std::span<const float> gradient_of_out,
                        std::span<float> gradient_of_in) = 0;
  // weights -= rate * factor * (sum of the gradients). Then sets that sum to zero.
  virtual void Step(float factor) = 0;
};

void RunStage(Stage& stage, Wire& wire);

}  // namespace lab
