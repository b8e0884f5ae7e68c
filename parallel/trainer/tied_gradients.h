// TiedGradients: sums the gradients of a tied parameter's uses, also across stages. Internal to the
// trainer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parallel/collectives/communicator.h"
#include "parallel/trainer/parameter_table.h"

namespace torus::parallel {

class TiedGradients {
 public:
  // `pipeline`: the ranks of one replica. `owners`: the rank of each stage. `held`: what this rank
  // holds of the uses in each of its stages (ReplicaStrategy::held). All ranks of the pipeline hold
  // the same part of a parameter. `pipeline` and `table` must outlive it.
  TiedGradients(Communicator& pipeline, const ParameterTable& table, const std::vector<int>& owners,
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
    std::unique_ptr<Communicator> ranks;  // those with a use
    std::vector<int> owners;              // rank of each use, in `ranks`
    std::vector<Variable> uses;           // undefined if on another rank
    std::vector<int> stages;              // of each use
  };
  static std::vector<Tensor> Gather(Tied& tied, const std::string& what);
  static void SumOne(Tied& tied, const std::string& what);

  std::vector<Tied> tied_;  // those with a use here, in model order
};

}  // namespace torus::parallel
