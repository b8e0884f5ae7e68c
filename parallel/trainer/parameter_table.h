// ParameterTable: the parameters of a whole model in model order, and the stages that use each.
// Trainer's own part.
//
// Parameters that have one name in several blocks are tied: one parameter with several uses. Each
// use is a leaf of its own and accumulates a gradient of its own, wherever the model is cut.
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
  // Of all stages of one model. BadInput for tied parameters of unlike shape or type.
  explicit ParameterTable(const std::vector<Stage>& stages);

  const std::vector<Entry>& entries() const { return entries_; }  // in order of their first uses
  size_t IndexOf(const std::string& name) const { return index_.at(name); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

// The parameters of a stage, each once; of a tied one its first use in the stage.
std::vector<NamedVariable> UniqueParameters(const Stage& stage);

// Whether two stages have a variable in common.
bool ShareVariables(const Stage& a, const Stage& b);

// Sets the values of all uses of a tied parameter in the stages `own` to those of its first use in
// the model. Uses in one stage share memory, so that one optimizer step changes them all; each
// stage has memory of its own, as it would on another machine.
void ShareTiedWeights(const std::vector<Stage>& stages, const std::vector<int>& own);

}  // namespace torus::parallel
