// Lab "server": synchronous SGD by a parameter server (Li et al. 2014, "Scaling distributed machine
// learning with the parameter server"). Rank 0 serves, all others work. You write both.
//
// In each step the server sends its weights to every worker; each computes a gradient by them and
// sends it back; the server moves the weights by their mean:
//   weights -= rate * (((g[1] + g[2]) + ...) + g[n - 1]) / (n - 1)
// There are no other messages. What is graded:
//   values   the server's weights after all steps
//   order    gradients are added in the order of the ranks
//   bytes    a step moves the weights once to each worker, and a gradient once from it
//   time     the workers compute at the same time, each as long as it takes on a virtual clock
//   memory   the server needs room for two gradients, and a worker for the weights and a gradient
#pragma once

#include <cstddef>
#include <span>

#include "lab_wire.h"

namespace lab {

class Worker {
 public:
  virtual ~Worker() = default;
  // The gradient of this rank's loss by weights like these; both of width() floats.
  virtual void Gradient(std::span<const float> weights, std::span<float> gradient) = 0;
  virtual size_t width() const = 0;
};

// On rank 0: `weights` are what the steps begin with, and in the end what they have come to.
void Serve(Wire& wire, std::span<float> weights, int steps, float rate);
// On all other ranks.
void Work(Wire& wire, Worker& worker, int steps);

}  // namespace lab
