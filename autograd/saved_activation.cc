#include "autograd/saved_activation.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "runtime/error.h"

namespace torus {
namespace internal {

// The f32 values of a whole storage as bf16.
class PackedStorage {
 public:
  explicit PackedStorage(const std::shared_ptr<Storage>& source)
      : values_(Flat(source).To(DType::kBF16)) {}

  // Returns the values in f32; views in use at the same time share them. With `more_readers`, they
  // are kept until this thread unpacks another storage: ops that saved the same tensor mostly read
  // it one after the other.
  std::shared_ptr<Storage> Unpack(bool more_readers) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Storage> storage = unpacked_.lock();
    if (storage == nullptr) unpacked_ = storage = values_.To(DType::kF32).storage();
    held_ = more_readers ? storage : nullptr;
    return storage;
  }

  void Drop() {
    const std::lock_guard lock(mutex_);
    held_ = nullptr;
  }

 private:
  static Tensor Flat(const std::shared_ptr<Storage>& source) {
    const auto count = static_cast<int64_t>(source->bytes() / sizeof(float));
    return Tensor(source, {count}, {1}, 0, DType::kF32);
  }

  const Tensor values_;
  std::mutex mutex_;
  std::weak_ptr<Storage> unpacked_;
  std::shared_ptr<Storage> held_;
};

}  // namespace internal

namespace {

using internal::PackedStorage;

thread_local DType current = DType::kF32;

// A copy that some graph may still hold. If the storage's address was reused for another storage,
// the source has expired.
struct Copy {
  std::weak_ptr<Storage> source;
  uint64_t version = 0;
  std::weak_ptr<PackedStorage> packed;
};

thread_local std::unordered_map<const Storage*, Copy> copies;

constexpr size_t kLeastLimit = 64;
thread_local size_t limit = kLeastLimit;

// Removes the entries of freed storages, which nothing else does, as an address may never be
// reused. The limit doubles with the number of remaining entries, so a new copy costs amortised
// constant time.
void ForgetGone() {
  if (copies.size() < limit) return;
  std::erase_if(copies, [](const auto& entry) {
    return entry.second.source.expired() || entry.second.packed.expired();
  });
  limit = std::max(kLeastLimit, 2 * copies.size());
}

thread_local std::weak_ptr<PackedStorage> recent;  // the one unpacked last

std::shared_ptr<Storage> Unpacked(const std::shared_ptr<PackedStorage>& packed) {
  const std::shared_ptr<PackedStorage> before = recent.lock();
  if (before != nullptr && before != packed) before->Drop();
  recent = packed;
  const long readers = packed.use_count() - (before == packed ? 1 : 0);
  return packed->Unpack(readers > 1);
}

std::shared_ptr<PackedStorage> Pack(const std::shared_ptr<Storage>& storage) {
  ForgetGone();
  Copy& copy = copies[storage.get()];
  if (!copy.source.expired() && copy.version == storage->version())
    if (std::shared_ptr<PackedStorage> packed = copy.packed.lock()) return packed;
  auto packed = std::make_shared<PackedStorage>(storage);
  copy = {storage, storage->version(), packed};
  return packed;
}

// A third is enough: queries, keys and values in one storage are each packed as views of it.
bool IsMuchOf(const Tensor& view, const Storage& storage) {
  return 3 * view.bytes() >= storage.bytes();
}

bool Packs(const Tensor& tensor) {
  return current == DType::kBF16 && tensor.defined() && tensor.dtype() == DType::kF32;
}

}  // namespace

namespace internal {

// The number of copies that this thread remembers; for a test.
size_t KnownCopies() { return copies.size(); }

}  // namespace internal

ActivationStorage::ActivationStorage(DType dtype) : before_(current) {
  Require(dtype == DType::kF32 || dtype == DType::kBF16, "activation storage",
          "activations are kept as f32 or bf16, got {}", Name(dtype));
  current = dtype;
}

ActivationStorage::~ActivationStorage() { current = before_; }

DType ActivationStorage::Current() { return current; }

SavedActivation::SavedActivation(const Tensor& tensor) {
  if (!Packs(tensor)) {
    whole_ = Saved(tensor);
    return;
  }
  const Tensor view = IsMuchOf(tensor, *tensor.storage()) ? tensor : tensor.Clone();
  packed_ = Pack(view.storage());
  shape_ = view.shape();
  strides_ = view.strides();
  offset_ = view.offset();
}

SavedActivation::SavedActivation(const Variable& variable)
    : SavedActivation(variable.defined() ? variable.data() : Tensor()) {}

Tensor SavedActivation::get() const {
  if (packed_ == nullptr) return whole_.get();
  return Tensor(Unpacked(packed_), shape_, strides_, offset_, DType::kF32);
}

}  // namespace torus
