#include "autograd/print_variable.h"

#include "autograd/node.h"
#include "runtime/print_tensor.h"

namespace torus {

std::string ToString(const Variable& variable) {
  if (!variable.defined()) return "an undefined variable";
  std::vector<std::string> suffixes;
  if (variable.node() != nullptr)
    suffixes.push_back(fmt::format("grad_fn=<{}>", variable.node()->op()));
  else if (variable.requires_grad())
    suffixes.emplace_back("requires_grad=True");
  return ToString(variable.data(), std::move(suffixes));
}

std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  out << ToString(variable);
  return variable.defined() ? out << fmt::format("  [{}]", variable) : out;
}

}  // namespace torus
