// ParameterTable: the parameters of a whole model in model order, and the stages that use each.
// Internal to the trainer.
//
// Parameters with the same name in several blocks are tied: one parameter with several uses. Each
// use is a leaf of its own and accumulates its own gradient, wherever the model is cut.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "parallel/pipeline/stage.h"

namespace torus::parallel {

class ParameterTable {
 public:
  struct Entry {
    std::string name;
    std::vector<int> stages;  // the stage of each use, in model order, hence ascending
    bool tied() const { return stages.size() > 1; }
  };

  ParameterTable() = default;
  // `stages`: all stages of one model. Throws BadInput if uses of a tied parameter differ in shape
  // or type.
  explicit ParameterTable(const std::vector<Stage>& stages);

  const std::vector<Entry>& entries() const { return entries_; }  // in order of their first uses
  size_t IndexOf(const std::string& name) const { return index_.at(name); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

// The parameters of a stage, each once; a tied one by its first use in the stage.
std::vector<NamedVariable> UniqueParameters(const Stage& stage);

// Whether two stages have a variable in common.
bool ShareVariables(const Stage& a, const Stage& b);

// Sets all uses of a tied parameter in the stages `own` to the values of its first use in the
// model. Uses in one stage share memory, so that one optimizer step changes them all. Different
// stages share none, as if they were on different machines.
void ShareTiedWeights(const std::vector<Stage>& stages, const std::vector<int>& own);

}  // namespace torus::parallel
