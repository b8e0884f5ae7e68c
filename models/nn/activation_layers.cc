#include "models/nn/activation_layers.h"

#include "ops/activation/activation.h"
#include "ops/softmax/softmax.h"

namespace torus::nn {

Relu::Relu() : FunctionLayer(ops::Relu) {}
Relu6::Relu6() : FunctionLayer(ops::Relu6) {}
Sigmoid::Sigmoid() : FunctionLayer(ops::Sigmoid) {}
LogSigmoid::LogSigmoid() : FunctionLayer(ops::LogSigmoid) {}
Tanh::Tanh() : FunctionLayer(ops::Tanh) {}
Silu::Silu() : FunctionLayer(ops::Silu) {}

Hardtanh::Hardtanh(double min_val, double max_val)
    : FunctionLayer([=](const Variable& x) { return ops::Hardtanh(x, min_val, max_val); }) {}

LeakyRelu::LeakyRelu(double negative_slope)
    : FunctionLayer([=](const Variable& x) { return ops::LeakyRelu(x, negative_slope); }) {}

Gelu::Gelu(std::string approximate)
    : FunctionLayer([approximate = std::move(approximate)](const Variable& x) {
        return ops::Gelu(x, approximate);
      }) {}

Softplus::Softplus(double beta, double threshold)
    : FunctionLayer([=](const Variable& x) { return ops::Softplus(x, beta, threshold); }) {}

Softmax::Softmax(int64_t dim)
    : FunctionLayer([dim](const Variable& x) { return ops::Softmax(x, dim); }) {}

LogSoftmax::LogSoftmax(int64_t dim)
    : FunctionLayer([dim](const Variable& x) { return ops::LogSoftmax(x, dim); }) {}

}  // namespace torus::nn
