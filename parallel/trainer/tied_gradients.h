// TiedGradients: sums the gradients of a tied parameter's uses, also across stages. Internal to the
// trainer.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "parallel/trainer/parameter_table.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class TiedGradients {
 public:
  // `pipeline`: the ranks of one replica. `owners`: the rank of each stage. `held`: what this rank
  // holds of the uses in each of its stages (ReplicaStrategy::held). All ranks of the pipeline hold
  // the same part of a parameter. `pipeline` and `table` must outlive it.
  TiedGradients(Transport& pipeline, const ParameterTable& table, const std::vector<int>& owners,
                const std::map<int, std::vector<NamedVariable>>& held);

  // All ranks of the pipeline call it, each after its gradients are summed over micro-batches and
  // replicas. Every rank adds the uses' gradients in model order, so every cut and every stage gets
  // the same bits. Afterwards the first use in each stage has the sum, and the others have no
  // gradient. A use without gradient adds nothing; if no use has one, no stage gets one. `what` is
  // used in errors.
  void Sum(const std::string& what);

 private:
  struct Tied {
    std::string name;
    std::vector<int> owners;     // rank of each use
    std::vector<int> ranks;      // the same ranks, each once, ascending
    std::vector<Variable> uses;  // undefined if on another rank
    std::vector<int> stages;     // of each use
    Shape shape;
    DType dtype = DType::kF32;
    Device device;
  };
  Tensor Gather(Tied& tied, size_t use, const std::string& what);
  void SumOne(Tied& tied, const std::string& what);

  Transport& pipeline_;
  std::vector<Tied> tied_;  // those with a use here, in model order
};

}  // namespace torus::parallel
