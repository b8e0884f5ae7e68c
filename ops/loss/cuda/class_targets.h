// Class numbers on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::cuda {

// This one, without LaterChecks, and the count as a number wait for the stream.
void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets,
                  StreamHandle stream);
int64_t CountTargets(const ops::ClassTargets& targets, StreamHandle stream);
void CountTargets(const ops::ClassTargets& targets, Tensor& count, StreamHandle stream);
void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted,
                 StreamHandle stream);

}  // namespace torus::cuda
