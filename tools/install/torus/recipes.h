// Whole runs as one call each: training, evaluation, generation, conversion of checkpoints.
#pragma once

#include "models/nn/cost.h"
#include "models/nn/describe.h"
#include "recipes/convert/convert.h"
#include "recipes/evaluate/evaluate.h"
#include "recipes/evaluate/evaluate_classes.h"
#include "recipes/evaluate/evaluate_text.h"
#include "recipes/generate/generator.h"
#include "recipes/generate/sampling.h"
#include "recipes/model/model_blocks.h"
#include "recipes/model/usual_settings.h"
#include "recipes/run/run.h"
#include "recipes/settings/presets.h"
#include "recipes/settings/settings.h"
#include "tools/install/torus/torus.h"
