#include "parallel/trainer/clipping.h"

#include "parallel/collectives/all_reduce.h"
#include "parallel/optim/gradient_norm.h"
#include "runtime/error.h"

namespace torus::parallel {

std::vector<double> OwnSquaredNorms(const ParameterTable& table,
                                    const std::map<int, Stage>& stages) {
  std::vector<double> squares(table.entries().size());
  for (const auto& [number, stage] : stages) {
    const std::vector<NamedVariable> parameters = UniqueParameters(stage);
    const std::vector<double> own = SquaredGradientNorms(parameters);
    for (size_t i = 0; i < own.size(); ++i) {
      const size_t index = table.IndexOf(parameters[i].name);
      if (table.entries()[index].stages.front() == number) squares[index] = own[i];
    }
  }
  return squares;
}

double PipelineGradientNorm(Transport& pipeline, std::vector<double> squares,
                            const std::string& what) {
  // Every sum has one term that is not 0.
  AllReduce<double>(pipeline, squares, fmt::format("norm of the gradients, {}", what));
  return GlobalNorm(squares);
}

}  // namespace torus::parallel
