// SampleStore: what a codec remembers of each sample, in a file instead of in memory: a row of
// floats by the sample's number. Memory is bounded: 40 bytes or so a sample.
//
// A checkpoint has no copy of the rows. It says which file they lie in (Open's `identity`), and
// each row says in which step it was written: a run that goes on from the checkpoint of step s
// takes each sample's last row from before step s. Sync, which comes before a checkpoint, leaves
// those rows where they are: what is written behind it goes to other places until the next Sync. So
// from the last checkpoint both ends of a link go on with the same rows, also where the host has
// crashed and what was written since is on the disk of one end alone. A file has room for two rows
// a sample.
//
// From a checkpoint before the last a run goes on with those of its rows whose places were not
// taken since; the other samples go uncompressed once more. After a crash of the host that is not
// safe: the ends' rows may differ, and the receiver may refuse a change. Remove the files then.
//
// File, in the byte order of the machine: "TRSS", version 1 (4 bytes each), identity, width (8
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
  // Nothing is opened yet.
  explicit SampleStore(std::string path);
  ~SampleStore();

  bool is_open() const { return file_ != nullptr; }
  // Opens the file for a run whose next step is `step`. `identity`: empty for a new file, whose
  // identity it becomes; otherwise that of the file to go on with. Where the file is another one,
  // or none, a new one is begun and has a new identity. BadInput where another run has it open.
  void Open(std::vector<float>& identity, int64_t step);

  // Whether it has a row of the sample, whole and of as many values; then `values` becomes it.
  bool Read(int64_t sample, std::span<float> values) const;
  // Rows have the width of the first one written; of others nothing is kept.
  void Write(int64_t sample, int64_t step, std::span<const float> values);
  // Waits until all rows are on the disk. They stay there until the next Sync is done.
  void Sync();

  int64_t rows() const { return static_cast<int64_t>(places_.size()); }

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
  std::unordered_map<int64_t, uint64_t> places_;  // of each sample's row
  std::vector<uint64_t> free_;                    // places of rows that nobody needs
  std::vector<uint64_t> replaced_;  // of rows that the last Sync keeps, and a later one does not
  std::vector<bool> fresh_;         // of each place, whether it was written since the last Sync
};

}  // namespace torus::parallel
