#include "parallel/codec/codec_context.h"

namespace torus::parallel {

std::vector<float>& CodecMemory::Change(const std::string& name) {
  Before& old = before[name];
  std::vector<float>& now = values[name];
  if (old.changed) return now;
  old.changed = true;
  old.existed = !now.empty();
  old.values = now;
  return now;
}

void CodecMemory::Settle(bool taken) {
  for (auto& [name, old] : before) {
    if (old.changed && !taken) {
      if (old.existed)
        std::swap(values[name], old.values);
      else
        values.erase(name);
    }
    old.changed = false;
  }
  for (auto& [name, part] : parts) part.Settle(taken);
}

}  // namespace torus::parallel
