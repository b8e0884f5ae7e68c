// Class numbers on a GPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::cuda {

// Waits for the stream unless the thread has DeferredChecks. CountTargets that returns a number
// always waits.
void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets,
                  StreamHandle stream);
int64_t CountTargets(const ops::ClassTargets& targets, StreamHandle stream);
void CountTargets(const ops::ClassTargets& targets, Tensor& count, StreamHandle stream);
void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted,
                 StreamHandle stream);

}  // namespace torus::cuda
