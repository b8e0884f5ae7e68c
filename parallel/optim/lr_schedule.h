// Learning-rate schedules: pure functions of the step, as multiples of the run's peak rate.
//
// A step is one optimizer step (a mini-batch), counted from 0. There is no state to save: a resumed
// run calls the function with the step that it has reached.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace torus::parallel {

// step -> factor of the peak learning rate. Takes any step >= 0; constant from the last step on.
using LrSchedule = std::function<double(int64_t step)>;

// What schedules are relative to, in steps.
struct RunLength {
  int64_t total_steps = 1;      // of the run
  int64_t warmup_steps = 0;     // of them, in which the rate rises
  int64_t steps_per_epoch = 1;  // for schedules by epochs
};

// Known specifications:
//   constant       1
//   cosine[:F]     from 1 to F (0) along half a cosine over the steps after warm-up: SGDR
//                  (Loshchilov and Hutter 2017), equation 5 without restarts; torch
//                  CosineAnnealingLR
//   linear[:F]     from 1 to F (0) along a line over the steps after warm-up
//   polynomial:P[:F]  F + (1 - F) (1 - t)^P, t from 0 to 1 over the steps after warm-up;
//                  transformers' polynomial decay
//   one-cycle      up from 1/25 to 1, then down to 1/250000, both along half a cosine (Smith and
//                  Topin 2018); torch OneCycleLR with its defaults, but momentum is left alone. It
//                  rises for 30 % of the steps, or for warmup_steps where those are given
//   step:N:GAMMA   multiplied by GAMMA every N epochs; torch StepLR
// Warm-up goes before all but one-cycle: step s < W has factor (s + 1) / (W + 1), and the schedule
// begins at step W (torch SequentialLR of LinearLR with start_factor 1 / (W + 1), and the
// schedule).
//
// Throws BadInput for an unknown name (the message lists them), a malformed number, N outside
// [1, 1000000], GAMMA outside (0, 1], F outside [0, 1], P outside (0, 1000], fewer than one step or
// one step an epoch, and warm-up that is negative or as long as the run.
LrSchedule MakeLrSchedule(const std::string& spec, const RunLength& length);

// "constant", "cosine[:F]", ...: the forms above.
std::vector<std::string> LrScheduleNames();

}  // namespace torus::parallel
