// Which operators replay knows, and how a case's arguments become a call of ours.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/replay/arguments.h"

namespace torus::replay {

// What an operator gave, in PyTorch's layout and order, and what its tolerance needs (tolerance.h).
struct OpRun {
  std::vector<Variable> outputs;
  std::map<std::string, Tensor> after;  // arguments changed in place

  // Terms added up in all; each element of a tensor of this call is a sum of terms / numel of them,
  // and of `least`.
  int64_t terms = 0;
  int64_t least = 1;
  // Names of arguments of which a term is the product, times `coefficient`; without any, the size
  // of terms is not known beyond that of the reference's values.
  std::vector<std::string> factors;
  double coefficient = 1;
  // Where a gradient is a small difference of larger values: their size, for a seed of 1.
  double gradient_size = 0;
};

using Handler = OpRun (*)(Arguments&);
using OpTable = std::map<std::string, Handler>;

// Every operator, by its name in torch or torch.nn.functional, which cases go by. Ops of ours that
// compute several of these in one (conv_chain, gelu_mlp, linear_cross_entropy) have no such name, so
// no case can ask for them: their tests hold them against the ops that they are made of.
const OpTable& Operators();

// The parts of the table, one for each of our op families.
void AddElementwise(OpTable& table);
void AddSelections(OpTable& table);
void AddIndexing(OpTable& table);
void AddViews(OpTable& table);
void AddReductions(OpTable& table);
void AddProducts(OpTable& table);
void AddConvolutions(OpTable& table);
void AddNormalizations(OpTable& table);
void AddLayerNorm(OpTable& table);
void AddAttention(OpTable& table);
void AddPooling(OpTable& table);
void AddLosses(OpTable& table);

}  // namespace torus::replay
