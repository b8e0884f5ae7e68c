// What products of cuBLASLt and graphs of cuDNN ask of a GPU, and which graphs cuDNN takes.
#pragma once

#include <optional>
#include <vector>

#include "ops/cuda/cudnn/graph.h"
#include "ops/cuda/cudnn/run_graph.h"
#include "ops/cuda/product_stand_in.h"
#include "tools/ledger/work.h"

namespace torus::ledger {

// The kernels that cuBLASLt runs for a product: one; another for an epilogue of sums; and one that
// adds the parts of a sum that it splits because the result has few tiles.
std::vector<Work> WorkOf(const cuda::SeenProduct& product);

// The same for a graph; nullopt if cuDNN has no plan for it on an H100 that the rules allow: as
// recorded, it takes all convolutions that it is asked for, and attention within its workspace.
std::optional<std::vector<Work>> WorkOf(const cuda::Graph& graph, const cuda::EngineRules& rules,
                                        cuda::GraphAddresses addresses);

}  // namespace torus::ledger
