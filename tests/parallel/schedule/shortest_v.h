// The shortest way to run V-shaped stages with split backwards, found by trying every order: what
// the generators of such schedules are held to.
#pragma once

namespace torus::parallel::testing {

// The least number of slots in which `ranks` ranks, each with stages r and 2 ranks - 1 - r, can run
// forwards and both halves of backwards, each a slot long, on `micro_batches` micro-batches, with
// the activations of at most `in_flight` stages on a rank; 0 if that is more than `at_most`.
int ShortestV(int ranks, int micro_batches, int in_flight, int at_most);

}  // namespace torus::parallel::testing
