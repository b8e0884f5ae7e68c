#include "recipes/study/statistics.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "runtime/error.h"

namespace torus::study {
namespace {

// P(|T| <= t), t >= 0; theta = atan(t / sqrt(degrees)).
double CentralProbability(double t, int degrees) {
  const double theta = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(theta), square = cosine * cosine;
  const bool odd = degrees % 2 == 1;
  // Odd: cos + 2/3 cos^3 + (2 4)/(3 5) cos^5 + ...; even: 1 + 1/2 cos^2 + (1 3)/(2 4) cos^4 + ...;
  // both up to cos^(degrees - 2).
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (int power = odd ? 3 : 2; power <= degrees - 2; power += 2) {
    term *= square * (power - 1) / power;
    sum += term;
  }
  if (!odd) return std::sin(theta) * sum;
  return 2 / std::numbers::pi * (theta + std::sin(theta) * sum);
}

}  // namespace

double Mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SampleDeviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

Measured Summarize(const std::vector<double>& values) {
  Require(!values.empty(), "statistics", "needs a value at least, got none");
  return {Mean(values), SampleDeviation(values), static_cast<int>(values.size())};
}

double StudentCdf(double t, int degrees) {
  Require(degrees >= 1, "statistics", "degrees of freedom must be at least 1, got {}", degrees);
  const double half = CentralProbability(std::fabs(t), degrees) / 2;
  return t < 0 ? 0.5 - half : 0.5 + half;
}

double StudentQuantile(double confidence, int degrees) {
  Require(confidence > 0 && confidence < 1, "statistics",
          "a confidence must lie between 0 and 1, got {}", confidence);
  const double wanted = (1 + confidence) / 2;
  double low = 0, high = 1;
  while (StudentCdf(high, degrees) < wanted && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = (low + high) / 2;
    (StudentCdf(middle, degrees) < wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

Difference PairedDifference(const std::vector<double>& a, const std::vector<double>& b,
                            double confidence) {
  Require(a.size() == b.size() && !a.empty(), "statistics",
          "needs as many of each, one at least, got {} and {}", a.size(), b.size());
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const int count = static_cast<int>(differences.size());
  Difference difference{Mean(differences), SampleDeviation(differences), 0, 0, count};
  const double reach = count < 2 ? std::numeric_limits<double>::infinity()
                                 : StudentQuantile(confidence, count - 1) * difference.deviation /
                                       std::sqrt(static_cast<double>(count));
  difference.low = difference.mean - reach;
  difference.high = difference.mean + reach;
  return difference;
}

}  // namespace torus::study
