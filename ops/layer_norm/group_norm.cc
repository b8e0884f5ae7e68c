#include "ops/layer_norm/group_norm.h"

#include "autograd/node.h"
#include "autograd/undefined_input.h"
#include "ops/elementwise/elementwise.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/variance.h"
#include "ops/view/view.h"

namespace torus::ops {
namespace {

void CheckChannels(const char* op, const char* name, const Variable& v, const Variable& x) {
  Require(!v.defined() || v.shape() == Shape{x.dim(-1)}, op, "{} must be ({}), got {}", name,
          x.dim(-1), v);
}

int64_t PixelsOf(const Variable& x) {
  int64_t pixels = 1;
  for (int d = 1; d + 1 < x.rank(); ++d) pixels *= x.dim(d);
  return pixels;
}

// Each group of a sample is a row of layer norm.
Variable NormalizedGroups(const Variable& x, int64_t groups, double eps) {
  const int64_t n = x.dim(0), pixels = PixelsOf(x), width = x.dim(-1) / groups;
  const auto swapped = [](const Variable& v) { return Permute(v, {0, 2, 1, 3}); };
  const Variable rows =
      Reshape(swapped(Reshape(x, {n, pixels, groups, width})), {n * groups, pixels * width});
  const Variable y = LayerNorm(rows, {pixels * width}, {}, {}, eps);
  return Reshape(swapped(Reshape(y, {n, groups, pixels, width})), x.shape());
}

Variable Normalize(const char* op, const Variable& x, int64_t groups, const Variable& weight,
                   const Variable& bias, double eps) {
  CheckChannels(op, "weight", weight, x);
  CheckChannels(op, "bias", bias, x);
  Variable y = NormalizedGroups(x, groups, eps);
  if (weight.defined()) y = Mul(y, weight);
  return bias.defined() ? Add(y, bias) : y;
}

}  // namespace

Variable GroupNorm(const Variable& x, int64_t num_groups, const Variable& weight,
                   const Variable& bias, double eps) {
  constexpr const char* kOp = "group_norm";
  RequireDefined(kOp, x);
  Require(x.rank() >= 2, kOp, "needs (N, ..., C), got {}", x.shape());
  Require(num_groups >= 1 && x.dim(-1) % num_groups == 0, kOp,
          "num_groups must divide the channels of {}, got {}", x.shape(), num_groups);
  Require(x.numel() != num_groups, kOp, "needs more than one value in all of a group, got {}",
          x.shape());
  return Normalize(kOp, x, num_groups, weight, bias, eps);
}

Variable InstanceNorm(const Variable& x, const Variable& weight, const Variable& bias, double eps) {
  constexpr const char* kOp = "instance_norm";
  RequireDefined(kOp, x);
  Require(x.rank() >= 3, kOp, "needs (N, ..., C) with a dimension between, got {}", x.shape());
  Require(PixelsOf(x) != 1, kOp, "needs more than one value of a channel, got {}", x.shape());
  return Normalize(kOp, x, x.dim(-1), weight, bias, eps);
}

InstanceStatistics StatisticsOfInstances(const Variable& x) {
  RequireDefined("instance_norm", x);
  const NoGrad constant;
  const Variable rows = Reshape(x, {x.dim(0), PixelsOf(x), x.dim(-1)});
  const auto over_samples = [](const Variable& of_each) { return Mean(of_each, {0}).data(); };
  return {over_samples(Mean(rows, {1})), over_samples(Var(rows, {1}, 0)), rows.dim(1)};
}

}  // namespace torus::ops
