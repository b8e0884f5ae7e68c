// Reduce-scatter and all-gather of rows of any lengths: the caller says which row each rank keeps,
// as in MPI_Reduce_scatter and MPI_Allgatherv.
//
// Sums add pairs of neighbouring ranks, then pairs of pairs, as in direct.h, whatever the rows.
// Each rank sends every other rank its row, in pieces if it is summed; an empty row is not sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parallel/collectives/pending_collective.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Every rank of `transport` calls it with one row per rank, of the same lengths on all ranks. After
// it rank r's row r is the sum over all ranks; its other rows are unchanged. Rank r sends all rows
// but row r. T is float, double, int64_t or int32_t. `what` appears in errors ("...,
// reduce-scatter").
template <class T>
void ReduceRows(Transport& transport, const std::vector<std::span<T>>& rows,
                const std::string& what);

// Before it rank r holds row r, in memory of a CPU or a GPU that the transport moves; after it
// every rank holds all. Rank r sends row r to all others. On a GPU only the rows' streams wait for
// it. `what` appears in errors ("..., all-gather").
void GatherRows(Transport& transport, const std::vector<Buffer>& rows, const std::string& what);

// Starts it. Those in flight at the same time have different lanes, as for StartDirectAllReduce.
std::unique_ptr<PendingCollective> StartGatherRows(Transport& transport,
                                                   const std::vector<Buffer>& rows,
                                                   const std::string& what, int lane);

// The same for rank `root` alone, as MPI_Gatherv, in CPU memory: rank r sends row r to it. Ranks
// other than the root do not access their other rows, which need no memory. Its messages are of
// TagClass::kControl ("..., gather").
void GatherRowsAt(int root, Transport& transport, const std::vector<Buffer>& rows,
                  const std::string& what);

}  // namespace torus::parallel
