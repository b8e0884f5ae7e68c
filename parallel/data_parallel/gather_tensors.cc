#include "parallel/data_parallel/gather_tensors.h"

#include <cstddef>
#include <span>

namespace torus::parallel {

std::vector<Tensor> GatherTensors(Transport& replicas, const Tensor& own, const std::string& what) {
  std::vector<Tensor> all;
  std::vector<std::span<std::byte>> rows;
  for (int r = 0; r < replicas.size(); ++r) {
    Tensor& one = all.emplace_back(r == replicas.rank() ? own.To(Device{}).Clone()
                                                        : Empty(own.shape(), own.dtype()));
    rows.emplace_back(static_cast<std::byte*>(one.mutable_raw()), one.bytes());
  }
  GatherRows(replicas, rows, what);
  for (Tensor& one : all) one = one.To(own.device());
  return all;
}

}  // namespace torus::parallel
