#include "runtime/print_tensor.h"

#include <gtest/gtest.h>

#include <sstream>

#include "autograd/node.h"
#include "autograd/print_variable.h"
#include "runtime/io/safetensors.h"

namespace torus {
namespace {

// tests/golden/make_printed_tensors.py
TEST(PrintTensor, IsPyTorchsText) {
  const SafetensorsFile file = ReadSafetensors("tests/golden/printed_tensors.safetensors");
  EXPECT_GT(file.tensors.size(), 40u);
  for (const auto& [name, tensor] : file.tensors) {
    SCOPED_TRACE(name);
    EXPECT_EQ(ToString(tensor), file.metadata.at(name));
  }
}

TEST(PrintTensor, StridesAndSmallPartsOfLargeTensors) {
  const Tensor large = Arange(1 << 20).View({1 << 10, 1 << 10});
  EXPECT_EQ(ToString(large.Transpose(0, 1).Narrow(0, 1, 2).Narrow(1, 0, 2)),
            "tensor([[   1, 1025],\n        [   2, 1026]])");
  EXPECT_EQ(ToString(Full({}, 2).Expand({1001})), "tensor([2., 2., 2.,  ..., 2., 2., 2.])");
}

TEST(PrintTensor, WithoutValues) {
  EXPECT_EQ(ToString(Tensor()), "an undefined tensor");
  EXPECT_EQ(ToString(Zeros({2, 3}, DType::kF32, kMetaDevice)),
            "tensor(..., device='meta', size=(2, 3))");
  EXPECT_EQ(ToString(Zeros({2}, DType::kI64, kMetaDevice)),
            "tensor(..., device='meta', size=(2), dtype=i64)");
}

TEST(PrintTensor, ToAStreamWithTypeShapeAndDevice) {
  std::ostringstream out;
  out << Arange(2, DType::kF64) << '\n' << Tensor();
  EXPECT_EQ(out.str(), "tensor([0., 1.], dtype=f64)  [f64 (2) on cpu]\nan undefined tensor");
}

TEST(PrintVariable, SaysWhereGradientsGo) {
  const Tensor two = Full({1}, 2);
  EXPECT_EQ(ToString(Variable(two)), "tensor([2.])");
  const Variable leaf(two, true);
  EXPECT_EQ(ToString(leaf), "tensor([2.], requires_grad=True)");
  const Variable result =
      Record("twice", two, {leaf}, [](const GradContext& g) { return Gradients{g.grad()}; });
  EXPECT_EQ(ToString(result), "tensor([2.], grad_fn=<twice>)");
  EXPECT_EQ(ToString(Variable()), "an undefined variable");
  std::ostringstream out;
  out << result << '\n' << Variable();
  EXPECT_EQ(out.str(), "tensor([2.], grad_fn=<twice>)  [f32 (1) on cpu]\nan undefined variable");
}

}  // namespace
}  // namespace torus
