// Lab "server": synchronous SGD with a parameter server (Li et al. 2014, "Scaling distributed
// machine learning with the parameter server"). Rank 0 is the server, all other ranks are workers.
// You write both: Serve and Work.
//
// In each step the server sends its weights to every worker. Each worker computes a gradient with
// them and sends it back. The server then updates its weights with the mean gradient, where n is
// wire.size() and g[r] is the gradient of rank r:
//   weights -= rate * (((g[1] + g[2]) + ...) + g[n - 1]) / (n - 1)
// There are no other messages. What is graded:
//   values   the server's weights after all steps
//   order    the server adds the gradients in the order of the ranks
//   bytes    per step, each worker receives the weights once and sends one gradient
//   time     all workers compute at the same time, measured on a virtual clock
//   memory   the server has room for two gradients; a worker for the weights and one gradient
//   leak     nothing stays allocated from one call to the next
#pragma once

#include <cstddef>
#include <span>

#include "lab_wire.h"

namespace lab {

class Worker {
 public:
  virtual ~Worker() = default;
  // Computes the gradient of this rank's loss at `weights`. Both spans have width() floats.
  virtual void Gradient(std::span<const float> weights, std::span<float> gradient) = 0;
  virtual size_t width() const = 0;
};

// Runs on rank 0. `weights` are the initial weights, which Serve replaces by the trained ones.
void Serve(Wire& wire, std::span<float> weights, int steps, float rate);
// Runs on all other ranks.
void Work(Wire& wire, Worker& worker, int steps);

}  // namespace lab
