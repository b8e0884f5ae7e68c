// The exercises, each in its own source file.
#pragma once

#include "tools/labs/build_it_yourself/grader/exercise.h"

namespace torus::tools::labs {

Exercise RingExercise();
Exercise BucketsExercise();
Exercise SortqExercise();
Exercise AutogradExercise();
Exercise GPipeExercise();
Exercise OneForwardOneBackwardExercise();
Exercise ServerExercise();

}  // namespace torus::tools::labs
