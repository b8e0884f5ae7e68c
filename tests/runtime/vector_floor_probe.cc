// A program as ours are: static initialisers of wide instructions, oneDNN and Highway. Run by
// vector_floor_test.
#include <hwy/targets.h>

#include <cstdio>
#include <dnnl.hpp>
#include <vector>

#include "runtime/tensor.h"

namespace {

// Built for AVX2 and run before main; the memory reads keep the compiler from doing it beforehand.
volatile float seed = 3;
std::vector<float> table = [] {
  std::vector<float> values(64, float{seed});
  for (size_t i = 0; i < values.size(); ++i) values[i] = values[i] * seed + seed;
  return values;
}();

// relu of the table through oneDNN's code generator.
float ReluOfTable() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc desc({64}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
  dnnl::memory memory(desc, engine, table.data());
  const dnnl::eltwise_forward::desc relu(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::eltwise_relu, desc);
  dnnl::eltwise_forward(dnnl::eltwise_forward::primitive_desc(relu, engine))
      .execute(stream, {{DNNL_ARG_SRC, memory}, {DNNL_ARG_DST, memory}});
  stream.wait();
  return table[63];
}

}  // namespace

int main() {
  const torus::Tensor half = torus::Full({3}, 12, torus::DType::kF16);
  std::printf("ran: %g %g %d\n", ReluOfTable(), half.Select(0, 2).Item(),
              hwy::SupportedTargets() != 0);
}
