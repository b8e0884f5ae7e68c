// Lab "server": fill in both sides, as lab_server.h explains. Then grade it:
//   ./bazelw run //tools/labs:grade -- server my_server.cc
#include <vector>

#include "lab_server.h"

namespace lab {

void Serve(Wire& wire, std::span<float> weights, int steps, float rate) {
  // TODO: in each step send the weights to all workers, add their gradients, update the weights.

  (void)wire, (void)weights, (void)steps, (void)rate;  // remove this line
}

void Work(Wire& wire, Worker& worker, int steps) {
  // TODO: in each step receive the weights, compute, send the gradient.

  (void)wire, (void)worker, (void)steps;  // remove this line
}

}  // namespace lab
