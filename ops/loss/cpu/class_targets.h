// Class numbers on a CPU; ops/loss/kernels.h has the contracts.
#pragma once

#include "ops/loss/class_targets.h"

namespace torus::cpu {

void CheckClasses(std::string_view op, const ops::ClassTargets& targets, int64_t classes);
int64_t CountTargets(const ops::ClassTargets& targets);
void CountTargets(const ops::ClassTargets& targets, Tensor& count);
void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted);

}  // namespace torus::cpu
