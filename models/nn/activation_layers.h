// Activation functions as layers, with the names, arguments and defaults of torch.nn. Their
// formulas are in ops/activation/activation.h and ops/softmax/softmax.h. Relu is in relu.h.
#pragma once

#include <string>

#include "models/nn/function_layer.h"

namespace torus::nn {

class Relu : public FunctionLayer {
 public:
  Relu();
};

class Relu6 : public FunctionLayer {
 public:
  Relu6();
};

class Hardtanh : public FunctionLayer {
 public:
  explicit Hardtanh(double min_val = -1, double max_val = 1);
};

class LeakyRelu : public FunctionLayer {
 public:
  explicit LeakyRelu(double negative_slope = 0.01);
};

class Sigmoid : public FunctionLayer {
 public:
  Sigmoid();
};

class LogSigmoid : public FunctionLayer {
 public:
  LogSigmoid();
};

class Tanh : public FunctionLayer {
 public:
  Tanh();
};

class Silu : public FunctionLayer {
 public:
  Silu();
};

// `approximate` is "none" or "tanh"; its first Forward throws BadInput for other names.
class Gelu : public FunctionLayer {
 public:
  explicit Gelu(std::string approximate = "none");
};

class Softplus : public FunctionLayer {
 public:
  explicit Softplus(double beta = 1, double threshold = 20);
};

// Along dimension `dim`, which may be negative.
class Softmax : public FunctionLayer {
 public:
  explicit Softmax(int64_t dim);
};

class LogSoftmax : public FunctionLayer {
 public:
  explicit LogSoftmax(int64_t dim);
};

}  // namespace torus::nn
