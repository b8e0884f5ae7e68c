// The bytes of the storages in a file of torch.save.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "models/checkpoint/pickle.h"
#include "runtime/io/zip_reader.h"
#include "runtime/tensor.h"

namespace torus {

// A file's bytes, and who keeps them in memory; without an owner, tensors copy what they need.
struct HeldBytes {
  std::string_view bytes;
  std::shared_ptr<const void> owner = {};
};

class TorchStorages {
 public:
  TorchStorages(std::string where, std::shared_ptr<const void> owner)
      : where_(std::move(where)), owner_(std::move(owner)) {}
  virtual ~TorchStorages() = default;

  // All elements of a storage as `type`, one tensor for all that share it. It is a view of the
  // file's bytes where these are held, aligned and of a tensor's own type. Throws BadInput if the
  // storage has not the length recorded for it.
  Tensor Get(const pickle::Value& storage, const io::StoredType& type);

 protected:
  virtual std::string_view Bytes(const std::string& key) = 0;
  const std::string& where() const { return where_; }

 private:
  Tensor Make(const std::string& key, std::string_view bytes, const io::StoredType& type) const;

  struct Made {
    std::string_view bytes;
    Tensor elements;
  };
  std::string where_;
  std::shared_ptr<const void> owner_;
  std::map<std::pair<std::string, std::string_view>, Made> made_;  // by key and type's name
};

// Each storage is a member of the archive.
class ZipStorages : public TorchStorages {
 public:
  ZipStorages(const io::ZipReader& zip, std::string folder, const std::string& where,
              std::shared_ptr<const void> owner)
      : TorchStorages(where, std::move(owner)), zip_(zip), folder_(std::move(folder)) {}

 protected:
  std::string_view Bytes(const std::string& key) override {
    return zip_.Get(folder_ + "data/" + key);
  }

 private:
  const io::ZipReader& zip_;
  std::string folder_;
};

// The storages follow the pickles: for each key, in the order of a list, an i64 count and the
// elements.
class StreamStorages : public TorchStorages {
 public:
  // `values` are those of the pickle that refers to the storages; they say the types. Throws
  // BadInput for a storage that none of them uses, and bytes too few or too many.
  StreamStorages(std::string_view bytes, const pickle::Value& keys,
                 const pickle::Document& document, const std::string& where,
                 std::shared_ptr<const void> owner);

 protected:
  std::string_view Bytes(const std::string& key) override;

 private:
  void Locate(const std::string& key, const pickle::Value* storage, std::string_view& rest);

  std::map<std::string, std::string_view> found_;
};

}  // namespace torus
