#include "autograd/op_observer.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/autograd/toy_ops.h"

namespace torus {
namespace {

class Log : public OpObserver {
 public:
  void OnOp(std::string_view op, const std::vector<Variable>& inputs,
            const std::vector<Variable>& outputs) override {
    text += fmt::format("{} {} {};", op, inputs.size(), outputs.front());
  }
  void OnProduct(int64_t count) override { flops += count; }
  std::string text;
  int64_t flops = 0;
};

TEST(OpObserver, IsToldOfEveryOpOfItsThreadWhileItLives) {
  const Variable a(Full({2}, 3, DType::kF64), true), b(Full({2}, 4, DType::kF64));
  Log outer;
  {
    Log inner;
    torus::testing::ToyMul(a, b);
    ObserveProduct(10);
    EXPECT_EQ(inner.text, "toy_mul 2 f64 (2) on cpu;");
    EXPECT_EQ(inner.flops, 10);
  }
  const NoGrad no_grad;
  torus::testing::ToyMul(a, b);
  std::thread([&] { torus::testing::ToyMul(a, b); }).join();
  EXPECT_EQ(outer.text, "toy_mul 2 f64 (2) on cpu;toy_mul 2 f64 (2) on cpu;");
  EXPECT_EQ(outer.flops, 10);
}

}  // namespace
}  // namespace torus
