// Layer normalization in double precision, and variants with common mistakes, to recognize these.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace torus::tools::labs {

struct NormInput {
  size_t width = 1, rows = 0;
  std::vector<float> x = {}, gamma = {}, beta = {}, dy = {};
  std::vector<float> dx = {}, dgamma = {}, dbeta = {};  // what the gradients are added to
};

struct NormOutput {
  std::vector<double> y, dx, dgamma, dbeta;
  std::vector<double> y_tolerance, dx_tolerance, dgamma_tolerance, dbeta_tolerance;
};

enum class NormVariant { kRight, kUnbiased, kEpsilonOutside, kNoMean, kNoProduct };

// "; so it would be if ...": describes the mistake.
std::string TextOf(NormVariant variant);

// `times` is how often the gradients are added.
NormOutput LayerNormInDouble(const NormInput& in, NormVariant variant = NormVariant::kRight,
                             double times = 1);

// Whether all of result[begin ...] equal `want` within `tolerance`.
bool IsNear(const std::vector<float>& result, size_t begin, const std::vector<double>& want,
            const std::vector<double>& tolerance);

}  // namespace torus::tools::labs
