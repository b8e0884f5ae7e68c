// What a run's folder says of its weights, so that evaluating it needs no other word.
#pragma once

#include <string>

#include "recipes/evaluate/evaluate.h"

namespace torus::recipes {

// If options.init is the folder of a run or of one of its checkpoints: the run's exported model if
// it has one, else its averaged weights or its checkpoint, becomes `init`, and what the options
// leave open is as in the run's settings: model, data and their place, size of images, tokenizer.
// Any other options are returned unchanged.
EvaluateOptions WithRunSettings(EvaluateOptions options);

}  // namespace torus::recipes
