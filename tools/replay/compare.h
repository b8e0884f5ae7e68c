// Compares tensors with their references and keeps the worst for the report.
#pragma once

#include <map>
#include <string>

#include "runtime/tensor.h"
#include "tools/replay/tolerance.h"

namespace torus::replay {

// Largest finite magnitude; 0 for an empty or undefined tensor, and for one without finite values.
double LargestMagnitude(const Tensor& tensor);
double LargestMagnitude(const std::map<std::string, Tensor>& tensors);  // in any of them

// Root of the sum of squares.
double Norm(const Tensor& tensor);

// Norm of a - b, two tensors of one shape. It is infinite if somewhere only one of them is NaN, or
// they are different infinities.
double NormOfDifference(const Tensor& a, const Tensor& b);

// Sum of products of the elements of two tensors of one shape.
double Dot(const Tensor& a, const Tensor& b);

// How far a tensor is from its reference.
struct Difference {
  double ratio = 0;  // of the difference to its tolerance, the largest; passes up to 1
  double absolute = 0, relative = 0, tolerance = 0;
};

// The result of comparing all tensors of a case.
class Comparison {
 public:
  // Compares element by element. Tolerances smaller than `floor` are raised to it. NaN equals NaN,
  // and an infinity equals itself. Shape and dtype must agree.
  void Check(const std::string& name, const Tensor& got, const Tensor& want, const Origin& origin,
             double floor = 0);
  // Compares in the norm: |got - want| <= allowed. For tensors in which a few elements may differ
  // much (model_tolerance.h).
  void CheckNorm(const std::string& name, const Tensor& got, const Tensor& want, double allowed);
  // Requires that `distance` is at most `allowed`.
  void CheckWithin(const std::string& name, double distance, double allowed);
  // Records a failure that is not a difference of values.
  void Fail(const std::string& name, const std::string& reason);

  bool passed() const { return failures_ == 0; }
  int compared() const { return compared_; }
  // One line: the tensor with the largest ratio of difference to tolerance, its largest absolute
  // and relative error, and the tolerance; if all passed, how close it came.
  std::string Summary() const;

 private:
  // Returns false, and records a failure, unless `got` is defined and has want's shape and dtype.
  bool Alike(const std::string& name, const Tensor& got, const Tensor& want);
  void Note(const std::string& name, const Difference& difference);

  int compared_ = 0, failures_ = 0;
  double worst_ratio_ = -1;
  std::string worst_;    // of tensors that could be compared
  std::string message_;  // of the first that could not
};

}  // namespace torus::replay
