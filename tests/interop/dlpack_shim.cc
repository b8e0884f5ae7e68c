// C functions around DLPack for dlpack_check.py, which builds them into a shared object.
#include <string>

#include "runtime/dlpack.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

std::string last_error;

// The result of f, or null and its error.
template <class F>
void* Guarded(const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    last_error = error.what();
    return nullptr;
  }
}

}  // namespace
}  // namespace torus

extern "C" {

const char* torus_error() { return torus::last_error.c_str(); }

// 0, 1, ... as (rows, columns), transposed, without its first row: strided and with an offset.
void* torus_export(int64_t rows, int64_t columns, int dtype, int versioned) {
  return torus::Guarded([&]() -> void* {
    const torus::Tensor all =
        torus::Arange(rows * columns, static_cast<torus::DType>(dtype)).View({rows, columns});
    const torus::Tensor part = all.Transpose(0, 1).Narrow(0, 1, columns - 1);
    if (versioned != 0) return torus::ToDLPackVersioned(part);
    return torus::ToDLPack(part);
  });
}

void* torus_import(void* managed, int versioned) {
  return torus::Guarded([&]() -> void* {
    if (versioned != 0)
      return new torus::Tensor(
          torus::FromDLPack(static_cast<torus::DLManagedTensorVersioned*>(managed)));
    return new torus::Tensor(torus::FromDLPack(static_cast<torus::DLManagedTensor*>(managed)));
  });
}

const void* torus_address(const torus::Tensor* tensor) { return tensor->raw(); }

// The elements in row-major order.
void torus_elements(const torus::Tensor* tensor, double* out) {
  const auto values = torus::ToVector<double>(tensor->To(torus::DType::kF64));
  std::copy(values.begin(), values.end(), out);
}

void torus_fill(torus::Tensor* tensor, double value) { torus::Fill(*tensor, value); }

void torus_release(torus::Tensor* tensor) { delete tensor; }
}
