// SampleStore: keeps what a codec remembers of each sample in a file instead of in memory: one row
// of floats for each sample number. It uses about 40 bytes of memory per sample.
//
// A checkpoint does not copy the rows. It names their file (Open's `identity`), and each row holds
// the step in which it was written. A run resumed from the checkpoint of step s uses each sample's
// last row from before step s. Sync, which is called before a checkpoint, protects the current
// rows: until the next Sync, new rows are written to other places. So both ends of a link resume
// from the last checkpoint with the same rows, even if the host crashed and only one end's later
// writes reached the disk. A file has room for two rows per sample.
//
// A run resumed from an older checkpoint uses those of its rows that have not been overwritten; the
// other samples are sent uncompressed once more. This is not safe after a crash of the host: the
// rows of the two ends may differ, and the receiver may refuse a difference. Remove the files in
// that case.
//
// File format, in the machine's byte order: "TRSS", version 1 (4 bytes each), identity, width (8
// bytes each); then rows: sample, step (8 bytes each), CRC-32C of the values, 0 (4 bytes each),
// `width` float32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/io/updated_file.h"

namespace torus::parallel {

class SampleStore {
 public:
  // Does not open the file yet.
  explicit SampleStore(std::string path);
  ~SampleStore();

  bool is_open() const { return file_ != nullptr; }  // whether Open was called
  // Opens the file for a run whose next step is `step`. `identity` is that of the file to resume
  // with, or empty for a new file. If it is empty, or the file is missing or has another identity,
  // begins a new file and sets `identity` to the new file's. Throws BadInput if another run has the
  // file open.
  void Open(std::vector<float>& identity, int64_t step);

  // Copies the row of the sample to `values`. Returns false if there is no intact row of this size;
  // `values` may then be overwritten.
  bool Read(int64_t sample, std::span<float> values) const;
  // Stores a row. All rows have the width of the first one; rows of other widths are ignored.
  void Write(int64_t sample, int64_t step, std::span<const float> values);
  // Waits until all rows are on disk. They are not overwritten before the next Sync has returned.
  void Sync();

  int64_t rows() const { return static_cast<int64_t>(places_.size()); }  // how many are stored

 private:
  struct Header;
  struct RowHeader;
  bool GoesOn(uint64_t identity, int64_t step);
  void TakeRow(uint64_t place, const RowHeader& row);
  void Begin(uint64_t identity);
  void Forget(uint64_t place);
  uint64_t OffsetOf(uint64_t place) const;
  uint64_t NewPlace();
  uint64_t PlaceFor(int64_t sample);

  const std::string path_;
  std::unique_ptr<io::UpdatedFile> file_;
  uint64_t width_ = 0;                            // 0: no row was written yet
  std::unordered_map<int64_t, uint64_t> places_;  // place of each sample's row
  std::vector<uint64_t> free_;                    // places that may be reused
  std::vector<uint64_t> replaced_;                // places that the next Sync will free
  std::vector<bool> fresh_;                       // per place: written since the last Sync
};

}  // namespace torus::parallel
