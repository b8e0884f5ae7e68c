// Matrix products.
#include <algorithm>

#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "tools/replay/op_table.h"

namespace torus::replay {
namespace {

// A product of `input` and a matrix: every output element has as many terms as `input` has columns.
OpRun Run(const Variable& y, const Variable& input, const char* other) {
  const int64_t length = input.rank() == 0 ? 1 : input.dim(-1);
  return {.outputs = {y}, .terms = y.numel() * (length + 1), .factors = {"input", other}};
}

OpRun Matmul(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::Matmul(input, a.Take("other")), input, "other");
}

OpRun Bmm(Arguments& a) {
  const Variable input = a.Take("input"), mat2 = a.Take("mat2");
  Require(input.rank() == 3 && mat2.rank() == 3, "bmm", "needs two batches of matrices, got {}, {}",
          input.shape(), mat2.shape());
  return Run(ops::Matmul(input, mat2), input, "mat2");
}

OpRun Linear(Arguments& a) {
  const Variable input = a.Take("input");
  return Run(ops::Linear(input, a.Take("weight"), a.Optional("bias")), input, "weight");
}

}  // namespace

void AddProducts(OpTable& table) {
  table["matmul"] = Matmul;
  table["bmm"] = Bmm;
  table["linear"] = Linear;
}

}  // namespace torus::replay
