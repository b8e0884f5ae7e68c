#include "tools/labs/build_it_yourself/grader/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "tools/labs/build_it_yourself/autograd/lab_autograd.h"

namespace torus::tools::labs {
namespace {

// One row's figures.
struct Row {
  double scale = 1;  // 1 / deviation
  std::vector<double> normalized;
  double error = 0;  // bound of a normalized value's, beside 1 + its size
};

// Roundings in a sum of `terms`, and a few more.
double Roundings(size_t terms) { return (static_cast<double>(terms) + 16) * 0x1p-23; }

Row RowOf(const NormInput& in, size_t row, NormVariant variant) {
  const float* x = &in.x[row * in.width];
  const double width = static_cast<double>(in.width);
  double mean = 0, variance = 0, largest = 0;
  for (size_t i = 0; i < in.width; ++i) mean += x[i] / width;
  for (size_t i = 0; i < in.width; ++i) {
    variance += (x[i] - mean) * (x[i] - mean) / width;
    largest = std::max(largest, static_cast<double>(std::abs(x[i])));
  }
  if (variant == NormVariant::kUnbiased) variance *= width / std::max(1.0, width - 1);
  const double epsilon = lab::kEpsilon;
  Row made;
  made.scale = variant == NormVariant::kEpsilonOutside ? 1 / (std::sqrt(variance) + epsilon)
                                                       : 1 / std::sqrt(variance + epsilon);
  for (size_t i = 0; i < in.width; ++i) made.normalized.push_back((x[i] - mean) * made.scale);
  made.error = Roundings(in.width) * (1 + largest * made.scale);
  return made;
}

void AddForward(const NormInput& in, const Row& row, NormOutput& out) {
  for (size_t i = 0; i < in.width; ++i) {
    const double normalized = row.normalized[i], gamma = in.gamma[i];
    out.y.push_back(gamma * normalized + in.beta[i]);
    out.y_tolerance.push_back(std::abs(gamma) * row.error * (1 + std::abs(normalized)) +
                              0x1p-22 * std::abs(in.beta[i]));
  }
}

void AddInputGradient(const NormInput& in, const Row& row, size_t at, NormVariant variant,
                      double times, NormOutput& out) {
  const double width = static_cast<double>(in.width);
  double mean = 0, product = 0, largest = 0, widest = 0;
  for (size_t i = 0; i < in.width; ++i) {
    const double g = static_cast<double>(in.dy[at + i]) * in.gamma[i];
    mean += g / width;
    product += g * row.normalized[i] / width;
    largest = std::max(largest, std::abs(g));
    widest = std::max(widest, std::abs(row.normalized[i]));
  }
  if (variant == NormVariant::kNoMean) mean = 0;
  if (variant == NormVariant::kNoProduct) product = 0;
  for (size_t i = 0; i < in.width; ++i) {
    const double g = static_cast<double>(in.dy[at + i]) * in.gamma[i];
    const double dx = row.scale * (g - mean - row.normalized[i] * product);
    out.dx.push_back(in.dx[at + i] + times * dx);
    // The gradient, the two means and the scale are each off by the row's error or less.
    out.dx_tolerance.push_back(times * 4 * row.error * row.scale * largest *
                                   (1 + widest + widest * widest) +
                               0x1p-22 * std::abs(in.dx[at + i]));
  }
}

void AddWeightGradients(const NormInput& in, const Row& row, size_t at, double times,
                        NormOutput& out) {
  for (size_t i = 0; i < in.width; ++i) {
    const double dy = in.dy[at + i], size = std::abs(row.normalized[i]);
    out.dgamma[i] += times * dy * row.normalized[i];
    out.dgamma_tolerance[i] +=
        times * std::abs(dy) * (row.error * (1 + size) + Roundings(in.rows) * size);
    out.dbeta[i] += times * dy;
    out.dbeta_tolerance[i] += times * Roundings(in.rows) * std::abs(dy);
  }
}

}  // namespace

std::string TextOf(NormVariant variant) {
  switch (variant) {
    case NormVariant::kUnbiased:
      return "; so it would be with a variance over width - 1";
    case NormVariant::kEpsilonOutside:
      return "; so it would be with kEpsilon outside of the root";
    case NormVariant::kNoMean:
      return "; so it would be without the mean of the gradients, which x has a share in";
    case NormVariant::kNoProduct:
      return "; so it would be without the gradient that goes through the variance";
    default:
      return "";
  }
}

NormOutput LayerNormInDouble(const NormInput& in, NormVariant variant, double times) {
  NormOutput out;
  out.dgamma.assign(in.dgamma.begin(), in.dgamma.end());
  out.dbeta.assign(in.dbeta.begin(), in.dbeta.end());
  for (size_t i = 0; i < in.width; ++i) {
    out.dgamma_tolerance.push_back(Roundings(in.rows) * std::abs(in.dgamma[i]));
    out.dbeta_tolerance.push_back(Roundings(in.rows) * std::abs(in.dbeta[i]));
  }
  for (size_t row = 0; row < in.rows; ++row) {
    const Row made = RowOf(in, row, variant);
    AddForward(in, made, out);
    AddInputGradient(in, made, row * in.width, variant, times, out);
    AddWeightGradients(in, made, row * in.width, times, out);
  }
  return out;
}

bool IsNear(const std::vector<float>& result, size_t begin, const std::vector<double>& want,
            const std::vector<double>& tolerance) {
  for (size_t i = 0; i < want.size(); ++i)
    if (!(std::abs(result.at(begin + i) - want[i]) <= tolerance[i])) return false;
  return true;
}

}  // namespace torus::tools::labs
