// Statistics of repeated runs.
#pragma once

#include <vector>

#include "recipes/study/table.h"

namespace torus::study {

// 0 without values.
double Mean(const std::vector<double>& values);

// The sample standard deviation, with n - 1; 0 for fewer than two values.
double SampleDeviation(const std::vector<double>& values);

// Mean, deviation and count. Throws BadInput without values.
Measured Summarize(const std::vector<double>& values);

// P(T <= t) for Student's t with `degrees` degrees of freedom, at least 1, by the finite sums of
// Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
double StudentCdf(double t, int degrees);

// The t for which P(|T| <= t) is `confidence`, between 0 and 1.
double StudentQuantile(double confidence, int degrees);

// The difference between two methods from paired runs: each run of one method is paired with the
// run of the other that has the same seed.
struct Difference {
  double mean = 0, deviation = 0;  // of a[i] - b[i]
  double low = 0, high = 0;        // confidence interval of the mean; infinite with one pair
  int count = 0;
};

// The confidence interval of the mean of a[i] - b[i] by Student's t (Student 1908, "The probable
// error of a mean"), which assumes normally distributed differences. Throws BadInput unless a and b
// have the same size, at least 1.
Difference PairedDifference(const std::vector<double>& a, const std::vector<double>& b,
                            double confidence = 0.95);

}  // namespace torus::study
