// Lab "1f1b": fill in the order of work, as lab_pipeline.h explains. Then grade it:
//   ./bazelw run //tools/labs:grade -- 1f1b my_1f1b.cc
#include <vector>

#include "lab_pipeline.h"

namespace lab {

void RunStage(Stage& stage, Wire& wire) {
  std::vector<float> in(stage.width()), out(stage.width());

  // TODO: rank r starts with min(M, P - 1 - r) forwards; then alternates one forward and one
  // backward; then runs the remaining backwards.

  // TODO: take one step.

  (void)wire;  // remove this line
}

}  // namespace lab
