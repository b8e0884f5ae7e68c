#include "tools/replay/compare.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/error.h"

namespace torus::replay {
namespace {

// Integers up to 2^53 are exact in f64; the indices and counts of cases are far below.
std::vector<double> Values(const Tensor& tensor) {
  return ToVector<double>(tensor.To(DType::kF64).Contiguous());
}

double Gap(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  const double distance = std::fabs(got - want);
  return std::isnan(distance) ? INFINITY : distance;
}

Difference Differ(const Tensor& got, const Tensor& want, const Origin& origin, double floor) {
  const std::vector<double> g = Values(got), w = Values(want);
  Difference worst;
  for (size_t i = 0; i < g.size(); ++i) {
    const double distance = Gap(g[i], w[i]);
    if (distance == 0) continue;
    const double tolerance = std::max(floor, Tolerance(want.dtype(), w[i], origin));
    const double ratio = tolerance > 0 ? distance / tolerance : INFINITY;
    if (ratio > worst.ratio) worst.ratio = ratio, worst.tolerance = tolerance;
    worst.absolute = std::max(worst.absolute, distance);
    worst.relative = std::max(worst.relative, distance / std::fabs(w[i]));
  }
  return worst;
}

Difference DifferInNorm(const Tensor& got, const Tensor& want, double allowed) {
  const std::vector<double> g = Values(got), w = Values(want);
  double squares = 0;
  Difference d{.tolerance = allowed};
  for (size_t i = 0; i < g.size(); ++i) {
    const double distance = Gap(g[i], w[i]);
    squares += distance * distance;
    d.absolute = std::max(d.absolute, distance);
  }
  d.relative = std::sqrt(squares) / Norm(want);
  d.ratio = squares == 0 ? 0 : std::sqrt(squares) / allowed;
  return d;
}

}  // namespace

double LargestMagnitude(const Tensor& tensor) {
  double largest = 0;
  if (!tensor.defined()) return largest;
  for (const double value : Values(tensor))
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  return largest;
}

double LargestMagnitude(const std::map<std::string, Tensor>& tensors) {
  double largest = 0;
  for (const auto& [name, tensor] : tensors) largest = std::max(largest, LargestMagnitude(tensor));
  return largest;
}

bool Comparison::Alike(const std::string& name, const Tensor& got, const Tensor& want) {
  ++compared_;
  if (got.defined() && got.shape() == want.shape() && got.dtype() == want.dtype()) return true;
  Fail(name, !got.defined() ? "missing"
                            : fmt::format("got {} {}, wanted {} {}", torus::Name(got.dtype()),
                                          ToString(got.shape()), torus::Name(want.dtype()),
                                          ToString(want.shape())));
  return false;
}

void Comparison::Note(const std::string& name, const Difference& d) {
  if (!(d.ratio <= 1)) ++failures_;
  if (d.ratio <= worst_ratio_) return;
  worst_ratio_ = d.ratio;
  worst_ = fmt::format("{}: largest error {:.3g} absolute, {:.3g} relative, tolerance {:.3g}", name,
                       d.absolute, d.relative, d.tolerance);
}

double Norm(const Tensor& tensor) {
  double squares = 0;
  for (const double value : Values(tensor)) squares += value * value;
  return std::sqrt(squares);
}

double NormOfDifference(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = Values(a), y = Values(b);
  double squares = 0;
  for (size_t i = 0; i < x.size(); ++i) squares += Gap(x[i], y[i]) * Gap(x[i], y[i]);
  return std::sqrt(squares);
}

double Dot(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = Values(a), y = Values(b);
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

void Comparison::Check(const std::string& name, const Tensor& got, const Tensor& want,
                       const Origin& origin, double floor) {
  if (Alike(name, got, want)) Note(name, Differ(got, want, origin, floor));
}

void Comparison::CheckNorm(const std::string& name, const Tensor& got, const Tensor& want,
                           double allowed) {
  if (Alike(name, got, want)) Note(name, DifferInNorm(got, want, allowed));
}

void Comparison::CheckWithin(const std::string& name, double distance, double allowed) {
  ++compared_;
  Note(name, {.ratio = distance / allowed, .absolute = distance, .tolerance = allowed});
}

void Comparison::Fail(const std::string& name, const std::string& reason) {
  ++failures_;
  if (message_.empty()) message_ = name + ": " + reason;
}

std::string Comparison::Summary() const {
  if (!message_.empty()) return message_;
  if (passed())
    return fmt::format("{} tensors, nearest to its tolerance by {:.2f}", compared_,
                       std::max(0.0, worst_ratio_));
  return worst_;
}

}  // namespace torus::replay
