// Mixes training images with others: mixup (Zhang et al. 2018, "mixup: Beyond empirical risk
// minimization") and CutMix (Yun et al. 2019, "CutMix: Regularization strategy to train strong
// classifiers with localizable features"), with torchvision's boxes.
#pragma once

#include <cstdint>

#include "data/images/augment.h"

namespace torus::data {

// Mixup (Zhang et al. 2018) and CutMix (Yun et al. 2019).
struct MixOptions {
  // The parameters of the distributions Beta(a, a) from which the shares are drawn; 0: without.
  // With both, each image takes one of them, with equal probability.
  double mixup = 0, cutmix = 0;

  bool any() const { return mixup > 0 || cutmix > 0; }  // whether anything is mixed
};

// How an image is mixed with another one.
struct Mixture {
  double share = 1;     // of its own class in the target; the other class has the rest
  bool blends = false;  // true: every pixel is share x own + (1 - share) x other
  Window window;        // else: these pixels are the other's
};

// The mixture of an image of `height` x `width`: a pure function of seed, epoch and example.
Mixture DrawMixture(const MixOptions& options, int64_t height, int64_t width, uint64_t seed,
                    int64_t epoch, int64_t example);

// A number of the distribution Beta(a, a), a above 0: by two of the distribution Gamma(a)
// (Marsaglia and Tsang 2000, "A simple method for generating gamma variables").
double DrawBeta(double a, const RandomKey& key);

}  // namespace torus::data
