#include "parallel/optim/finite_gradients.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

template <class T>
void ExpectFindsOneAnywhere(DType dtype) {
  using Limits = std::numeric_limits<T>;
  std::vector<NamedVariable> parameters;
  for (const int64_t size : {1, 7, 100, 70001}) {
    Variable parameter(Zeros({size}, dtype), true);
    parameter.SetGrad(Full({size}, static_cast<double>(Limits::max()), dtype));
    parameters.push_back({fmt::format("of {}", size), parameter});
  }
  parameters.push_back({"without gradient", Variable(Zeros({3}, dtype), true)});
  EXPECT_TRUE(GradientsAreFinite(parameters));
  for (size_t p = 0; p + 1 < parameters.size(); ++p)
    for (const T bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()})
      for (const int64_t at : {int64_t{0}, parameters[p].value.numel() - 1}) {
        Tensor gradient = parameters[p].value.grad().Clone();
        const Tensor good = gradient.Clone();
        gradient.mutable_data<T>()[at] = bad;
        parameters[p].value.SetGrad(gradient);
        EXPECT_FALSE(GradientsAreFinite(parameters)) << parameters[p].name << " " << at;
        parameters[p].value.SetGrad(good);
      }
  EXPECT_TRUE(GradientsAreFinite(parameters));
}

TEST(FiniteGradients, OneBadValueIsFound) {
  ExpectFindsOneAnywhere<float>(DType::kF32);
  ExpectFindsOneAnywhere<double>(DType::kF64);
}

TEST(FiniteGradients, NoneAtAllAreFinite) { EXPECT_TRUE(GradientsAreFinite({})); }

}  // namespace
}  // namespace torus::parallel
