// What an executor does besides computing: the loss, the codecs, and its owner's hooks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "parallel/codec/codec.h"
#include "parallel/pipeline/stage_worker.h"
#include "parallel/schedule/schedule.h"

namespace torus::parallel {

struct ExecutorOptions {
  LossFn loss;  // needed where the last stage runs
  // For activations forward and gradients backward; null, or an identity, sends raw bytes. Both
  // ends of a cut have the same.
  std::shared_ptr<Codec> activation_codec;
  std::shared_ptr<Codec> gradient_codec;
  // kReduce and kStep of a stage; empty does nothing. on_step says whether it took the step: the
  // stage's EndMiniBatch follows, which otherwise drops what it would have committed.
  std::function<void(int stage, int64_t step)> on_reduce;
  std::function<bool(int stage, int64_t step)> on_step;
  // Called before every action; what it throws fails that action. Tests inject faults with it. The
  // action's micro-batch counts through the whole mini-batch.
  std::function<void(const Action& action, int64_t step)> before_action;
};

}  // namespace torus::parallel
