#include "models/nn/loss_functions.h"

namespace torus::nn {

CrossEntropyLoss::CrossEntropyLoss(const ops::CrossEntropyOptions& options)
    : Loss([options](const Variable& input, const Variable& target) {
        return ops::CrossEntropy(input, target, options);
      }) {}

NllLoss::NllLoss(const ops::NllLossOptions& options)
    : Loss([options](const Variable& input, const Variable& target) {
        return ops::NllLoss(input, target, options);
      }) {}

MseLoss::MseLoss(ops::LossReduction reduction)
    : Loss([=](const Variable& input, const Variable& target) {
        return ops::MseLoss(input, target, reduction);
      }) {}

L1Loss::L1Loss(ops::LossReduction reduction)
    : Loss([=](const Variable& input, const Variable& target) {
        return ops::L1Loss(input, target, reduction);
      }) {}

HuberLoss::HuberLoss(ops::LossReduction reduction, double delta)
    : Loss([=](const Variable& input, const Variable& target) {
        return ops::HuberLoss(input, target, reduction, delta);
      }) {}

SmoothL1Loss::SmoothL1Loss(ops::LossReduction reduction, double beta)
    : Loss([=](const Variable& input, const Variable& target) {
        return ops::SmoothL1Loss(input, target, reduction, beta);
      }) {}

BceWithLogitsLoss::BceWithLogitsLoss(const ops::BinaryCrossEntropyOptions& options)
    : Loss([options](const Variable& input, const Variable& target) {
        return ops::BinaryCrossEntropyWithLogits(input, target, options);
      }) {}

}  // namespace torus::nn
