#include "parallel/trainer/clipping.h"

#include <set>

#include "parallel/optim/gradient_norm.h"
#include "runtime/error.h"

namespace torus::parallel {

void AddSquaredNorms(const ParameterTable& table, int stage, const std::vector<NamedVariable>& uses,
                     const std::vector<double>& of_uses, std::vector<double>& squares) {
  std::set<std::string> seen;
  for (size_t i = 0; i < uses.size(); ++i) {
    const size_t index = table.IndexOf(uses[i].name);
    if (!seen.insert(uses[i].name).second) continue;
    if (table.entries()[index].stages.front() == stage) squares[index] = of_uses[i];
  }
}

void SumOfSlices(Communicator& tensor, const RankModel& model, std::vector<double>& squares,
                 const std::string& what) {
  if (tensor.size() == 1) return;
  if (tensor.rank() > 0)
    for (const WeightSpec& weight : model.weights)
      if (weight.trained && !weight.split) squares[model.table.IndexOf(weight.name)] = 0;
  tensor.AllReduce<double>(squares, fmt::format("norm of split gradients, {}", what));
}

double PipelineGradientNorm(Communicator& pipeline, std::vector<double> squares,
                            const std::string& what) {
  // At most one term of every sum is not 0.
  pipeline.AllReduce<double>(squares, fmt::format("norm of the gradients, {}", what));
  return GlobalNorm(squares);
}

}  // namespace torus::parallel
