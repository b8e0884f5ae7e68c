// Reduce-scatter and all-gather of rows of any lengths: what each rank keeps is said by the caller,
// as in MPI_Reduce_scatter and MPI_Allgatherv.
//
// Sums are in pairs of neighbouring ranks, then pairs of pairs, as those of direct.h, whatever the
// rows. Each rank sends every other rank its row, in pieces where it is summed; nothing where it is
// empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

// Called by every rank of `transport` with one row a rank, each as long on all of them. After it
// rank r's row r is the sum over all ranks; its other rows are unchanged. Rank r sends all rows but
// row r. T is float, double, int64_t or int32_t. `what` stands in the errors ("...,
// reduce-scatter").
template <class T>
void ReduceRows(Transport& transport, const std::vector<std::span<T>>& rows,
                const std::string& what);

// Before it rank r holds row r; after it every rank holds all. Rank r sends row r to all others.
void GatherRows(Transport& transport, const std::vector<std::span<std::byte>>& rows,
                const std::string& what);

// The same to rank `root` alone, as MPI_Gatherv: rank r sends row r to it, and needs no room for
// the others, whose spans are not looked at there.
void GatherRowsAt(int root, Transport& transport, const std::vector<std::span<std::byte>>& rows,
                  const std::string& what);

}  // namespace torus::parallel
