// What a few repeated runs say.
#pragma once

#include <vector>

#include "recipes/study/table.h"

namespace torus::study {

// 0 without values.
double Mean(const std::vector<double>& values);

// With n - 1; 0 of fewer than two values.
double SampleDeviation(const std::vector<double>& values);

// Mean, deviation and count. BadInput without values.
Measured Summarize(const std::vector<double>& values);

// P(T <= t) of Student's t with so many degrees of freedom, at least 1: the finite sums of
// Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4.
double StudentCdf(double t, int degrees);

// The t for which P(|T| <= t) is `confidence`, between 0 and 1.
double StudentQuantile(double confidence, int degrees);

// How far one way lies from another where each run of one has its partner, of the same seed, among
// those of the other.
struct Difference {
  double mean = 0, deviation = 0;  // of a[i] - b[i]
  double low = 0, high = 0;        // the interval for the mean; infinite where there is one pair
  int count = 0;
};

// The interval of Student's t (Student 1908, "The probable error of a mean") for the mean of a[i] -
// b[i], taken as normally distributed. BadInput unless there are as many of each, one at least.
Difference PairedDifference(const std::vector<double>& a, const std::vector<double>& b,
                            double confidence = 0.95);

}  // namespace torus::study
