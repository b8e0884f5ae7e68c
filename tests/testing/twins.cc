#include "tests/testing/twins.h"

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "runtime/parallel_for.h"
#include "tests/testing/on_gpu.h"
#include "tests/testing/tolerance.h"

namespace torus::testing {
namespace {

struct Results {
  std::vector<Tensor> outputs, gradients;
};

std::vector<Variable> Leaves(const std::vector<Tensor>& inputs, DType dtype, Device device) {
  std::vector<Variable> leaves;
  for (const Tensor& input : inputs) {
    if (input.defined())
      leaves.emplace_back((IsFloating(input.dtype()) ? input.To(dtype) : input).To(device),
                          IsFloating(input.dtype()));
    else
      leaves.emplace_back();
  }
  return leaves;
}

Tensor SeedFor(const Shape& shape, uint64_t seed, DType dtype) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = seed, .layer = HashName("twin seed")}));
  return out.To(dtype);
}

Results Run(const Twin& twin, DType dtype, Device device = {}) {
  const std::vector<Variable> leaves = Leaves(twin.inputs, dtype, device);
  const std::vector<Variable> outputs = twin.function(leaves);
  Results results;
  std::vector<Variable> roots;
  std::vector<Tensor> seeds;
  for (const Variable& output : outputs) {
    results.outputs.push_back(output.data());
    if (!output.requires_grad()) continue;
    roots.push_back(output);
    seeds.push_back(SeedFor(output.shape(), roots.size(), dtype).To(device));
  }
  if (!roots.empty()) Backward(roots, seeds);
  for (const Variable& leaf : leaves) results.gradients.push_back(leaf.grad());
  return results;
}

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

void ExpectClose(const Tensor& fast, const Tensor& plain, int64_t terms, double magnitude,
                 const char* what, size_t index) {
  ASSERT_EQ(fast.defined(), plain.defined()) << what << " " << index;
  if (!fast.defined()) return;
  ASSERT_EQ(fast.shape(), plain.shape()) << what << " " << index;
  const std::vector<double> a = ToVector<double>(fast.To(DType::kF64));
  const std::vector<double> b = ToVector<double>(plain.To(DType::kF64));
  const double tolerance = IsFloating(fast.dtype())
                               ? Tolerance(fast.dtype(), terms, std::max(magnitude, Largest(b)))
                               : 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
    ASSERT_LE(std::abs(a[i] - b[i]), tolerance)
        << what << " " << index << " of shape " << ToString(fast.shape()) << ", element " << i
        << ": f32 " << a[i] << ", f64 " << b[i];
  }
}

void ExpectAgree(const Twin& twin, const Results& fast, const Results& plain) {
  ASSERT_EQ(fast.outputs.size(), plain.outputs.size());
  for (size_t i = 0; i < fast.outputs.size(); ++i)
    ExpectClose(fast.outputs[i], plain.outputs[i], twin.terms, twin.magnitude, "output", i);
  for (size_t i = 0; i < fast.gradients.size(); ++i)
    ExpectClose(fast.gradients[i], plain.gradients[i], twin.gradient_terms, twin.magnitude,
                "gradient of input", i);
}

}  // namespace

void ExpectTwinsAgree(const Twin& twin) {
  ExpectAgree(twin, Run(twin, DType::kF32), Run(twin, DType::kF64));
}

void ExpectAgreesOnGpu(const Twin& twin) {
  if (!HasGpu()) return;
  RunsOnGpu([&] {
    SCOPED_TRACE("on a GPU");
    ExpectAgree(twin, Run(twin, DType::kF32, kFirstGpu), Run(twin, DType::kF64));
  });
}

void CheckTwins(const std::function<Twin(OddShapes&)>& make) {
  const int team = TeamSize();
  bool first_width = true;  // a GPU's kernels know nothing of the CPU's vectors
  ForEachVectorWidth([&] {
    for (uint64_t seed = 0; seed < 200; ++seed) {
      SCOPED_TRACE(fmt::format("seed {}", seed));
      OddShapes shapes(seed);
      SetTeamSize(seed % 8 == 0 ? team : 1);
      const Twin twin = make(shapes);
      ExpectTwinsAgree(twin);
      if (first_width && seed % 8 == 1) ExpectAgreesOnGpu(twin);
      if (::testing::Test::HasFailure()) break;
    }
    first_width = false;
  });
  SetTeamSize(team);
}

int64_t OddShapes::Size(int64_t most, int64_t least) {
  if (stream_.Below(next_++, 10) == 0) return least;
  const int64_t size = least + static_cast<int64_t>(stream_.Below(next_++, most - least + 1));
  return Coin() ? std::min(most, size | 1) : size;
}

Shape OddShapes::Dims(int rank, int64_t most) {
  Shape shape;
  for (int i = 0; i < rank; ++i) shape.push_back(Size(most));
  return shape;
}

Tensor OddShapes::Normal(const Shape& shape) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = ++next_, .layer = HashName("odd normal")}));
  return out;
}

Tensor OddShapes::Uniform(const Shape& shape, double low, double high) {
  Tensor out(shape, DType::kF32);
  FillUniform(out, low, high, RandomStream({.seed = ++next_, .layer = HashName("odd uniform")}));
  return out;
}

Tensor OddShapes::Indices(const Shape& shape, int64_t bound) {
  Tensor out(shape, DType::kI64);
  int64_t* p = out.mutable_data<int64_t>();
  for (int64_t i = 0; i < out.numel(); ++i)
    p[i] = static_cast<int64_t>(stream_.Below(next_++, static_cast<uint64_t>(bound)));
  return out;
}

}  // namespace torus::testing
