// A published table as its authors printed it: tab-separated, with column names in the first line.
// A cell is empty if it is empty in the publication.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torus::experiments {

class Published {
 public:
  // Throws BadInput, naming `name` and the line, if a row does not have as many cells as there are
  // columns, or if there is no row.
  Published(std::string name, std::string_view tsv);

  size_t rows() const { return rows_.size(); }
  // Throws BadInput for a column that the table does not have.
  const std::string& Text(size_t row, std::string_view column) const;
  // None for an empty cell. Throws BadInput if the cell is not a number.
  std::optional<double> Number(size_t row, std::string_view column) const;
  // Throws BadInput if the cell is not a whole number, or is empty.
  int Whole(size_t row, std::string_view column) const;

 private:
  const std::string name_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace torus::experiments
