// The operators that replay knows, and how a case's arguments become a call of a Torus op.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/replay/arguments.h"

namespace torus::replay {

// The results of an operator, in PyTorch's layout and order, and what its tolerance depends on
// (tolerance.h).
struct OpRun {
  std::vector<Variable> outputs;
  std::map<std::string, Tensor> after;  // arguments changed in place

  // Terms added up in the whole call. Each element of one of the call's tensors is a sum of terms /
  // numel terms, but at least `least`.
  int64_t terms = 0;
  int64_t least = 1;
  // Each term is the product of these arguments, times `coefficient`. If empty, the size of the
  // terms is taken from the reference's values.
  std::vector<std::string> factors;
  double coefficient = 1;
  // If a gradient is a small difference of larger values: the size of these, for an output gradient
  // of 1.
  double gradient_size = 0;
};

using Handler = OpRun (*)(Arguments&);
using OpTable = std::map<std::string, Handler>;

// Every operator, by its name in torch or torch.nn.functional, which cases go by. Ops of ours that
// compute several of these in one (conv_chain, gelu_mlp, linear_cross_entropy) have no such name,
// so no case can ask for them: their tests hold them against the ops that they are made of.
const OpTable& Operators();

// The parts of the table, one for each of our op families.
void AddElementwise(OpTable& table);
void AddSelections(OpTable& table);
void AddIndexing(OpTable& table);
void AddViews(OpTable& table);
void AddMoves(OpTable& table);
void AddReductions(OpTable& table);
void AddProducts(OpTable& table);
void AddEinsums(OpTable& table);
void AddConvolutions(OpTable& table);
void AddNormalizations(OpTable& table);
void AddLayerNorm(OpTable& table);
void AddAttention(OpTable& table);
void AddPooling(OpTable& table);
void AddResampling(OpTable& table);
void AddLosses(OpTable& table);

}  // namespace torus::replay
