// TiedGradients: sums the gradients of a tied parameter's uses, also across stages. Trainer's own
// part.
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

  // Called by all ranks of the pipeline, each once its gradients are summed over micro-batches and
  // replicas. The uses' gradients are added in model order, first to last, on every rank alike, so
  // every cut and every stage gets the same bits. Then the first use in each stage holds the sum,
  // and the others hold none. A use without gradient adds nothing; where no use has one, no stage
  // gets one. `what` stands in the errors.
  void Sum(const std::string& what);

 private:
  struct Tied {
    std::string name;
    std::vector<int> owners;     // rank of each use
    std::vector<int> ranks;      // the same ranks, each once, ascending
    std::vector<Variable> uses;  // undefined where another rank has it
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
