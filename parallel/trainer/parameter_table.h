// ParameterTable: the parameters of a whole model in model order, and the stages that use each.
// Trainer's own part.
//
// Parameters of several blocks under one name are tied: one parameter with several uses. Each use
// is a leaf of its own, so that its gradient is accumulated apart wherever the model is cut.
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
    std::vector<int> stages;  // of each use, in model order; ascending
    bool tied() const { return stages.size() > 1; }
  };

  ParameterTable() = default;
  // Of all stages of one model. BadInput for tied parameters of unlike shape or type, and for two
  // uses that are one variable.
  explicit ParameterTable(const std::vector<Stage>& stages);

  const std::vector<Entry>& entries() const { return entries_; }  // by first use
  size_t IndexOf(const std::string& name) const { return index_.at(name); }

 private:
  std::vector<Entry> entries_;
  std::map<std::string, size_t> index_;
};

// A stage's parameters, each once: the first use of those that are tied within the stage.
std::vector<NamedVariable> UniqueParameters(const Stage& stage);

// Whether stages[index] has a variable that an earlier stage has too.
bool SharesVariables(const std::vector<Stage>& stages, size_t index);

// Gives the tied parameters of a model the values of their first use. The uses in one stage share
// their memory, so that one optimizer's step moves them all; those of other stages have their own,
// as they would on another machine.
void ShareTiedWeights(const std::vector<Stage>& stages);

}  // namespace torus::parallel
