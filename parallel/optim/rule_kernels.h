// The kernel of the rules of element_rules.h: one pass over the tensors of all parameters, of which
// there is at least one, on one device; on a GPU one launch a dtype. GPUs give the bits of CPUs.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "parallel/optim/element_rules.h"
#include "runtime/kernel_table.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Contiguous tensors of one dtype, f32 or f64, on one device; `states` are those that the rule
// calls s0, s1 and s2, undefined ones null.
struct RuleItem {
  Tensor gradient, parameter;
  std::array<Tensor, 3> states;
};

// Applies Scalars::Rule to every element; the scalars of each item.
TORUS_KERNEL_TEMPLATE(Scalars, RuleStep, Scalars::kName, items.front().parameter.device(),
                      (std::vector<RuleItem> & items,
                       const std::shared_ptr<const std::vector<Scalars>>& scalars),
                      (items, scalars));

}  // namespace torus::parallel

// Instantiates RuleStep of every rule, in a device's namespace behind its definition.
#define TORUS_RULE_STEP(Scalars)                          \
  template void RuleStep<Scalars>(std::vector<RuleItem>&, \
                                  const std::shared_ptr<const std::vector<Scalars>>&)
#define TORUS_RULE_STEPS                \
  TORUS_RULE_STEP(AdagradScalars);      \
  TORUS_RULE_STEP(RmspropScalars);      \
  TORUS_RULE_STEP(LionScalars);         \
  TORUS_RULE_STEP(ScheduleFreeScalars); \
  TORUS_RULE_STEP(MoveScalars);         \
  TORUS_RULE_STEP(MomentumScalars);     \
  TORUS_RULE_STEP(DirectionScalars)
