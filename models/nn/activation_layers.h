// Activation functions as layers, with the names, arguments and defaults of torch.nn. Their
// formulas are in ops/activation/activation.h and ops/softmax/softmax.h.
#pragma once

#include <string>

#include "models/nn/function_layer.h"

namespace torus::nn {

// As torch.nn.ReLU.
class Relu : public FunctionLayer {
 public:
  Relu();
};

// As torch.nn.ReLU6.
class Relu6 : public FunctionLayer {
 public:
  Relu6();
};

// As torch.nn.Hardtanh. Its first Forward throws BadInput if min_val > max_val.
class Hardtanh : public FunctionLayer {
 public:
  explicit Hardtanh(double min_val = -1, double max_val = 1);
};

// As torch.nn.LeakyReLU.
class LeakyRelu : public FunctionLayer {
 public:
  explicit LeakyRelu(double negative_slope = 0.01);
};

// As torch.nn.Sigmoid.
class Sigmoid : public FunctionLayer {
 public:
  Sigmoid();
};

// As torch.nn.LogSigmoid.
class LogSigmoid : public FunctionLayer {
 public:
  LogSigmoid();
};

// As torch.nn.Tanh.
class Tanh : public FunctionLayer {
 public:
  Tanh();
};

// As torch.nn.SiLU.
class Silu : public FunctionLayer {
 public:
  Silu();
};

// `approximate` is "none" or "tanh"; its first Forward throws BadInput for other names.
class Gelu : public FunctionLayer {
 public:
  explicit Gelu(std::string approximate = "none");
};

// As torch.nn.Softplus. Its first Forward throws BadInput if beta is 0.
class Softplus : public FunctionLayer {
 public:
  explicit Softplus(double beta = 1, double threshold = 20);
};

// Along dimension `dim`, which may be negative.
class Softmax : public FunctionLayer {
 public:
  explicit Softmax(int64_t dim);
};

// Along dimension `dim`, which may be negative.
class LogSoftmax : public FunctionLayer {
 public:
  explicit LogSoftmax(int64_t dim);
};

}  // namespace torus::nn
