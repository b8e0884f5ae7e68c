// The images in a folder of class folders, and everything else that is in it.
#pragma once

#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::data {

struct ClassFolder {
  std::string name;
  std::vector<std::string> images;  // paths, sorted; at least one
};

struct ClassFolders {
  std::vector<ClassFolder> classes;  // sorted by name, in byte order
  std::vector<LeftOut> passed_over;  // what is no image of a class, sorted by path
};

// Every folder in `dir` that has images at any depth is a class. An image is a regular file that
// ends in .jpg .jpeg .png .bmp .ppm .pgm .tif .tiff .webp (upper or lower case), torchvision's
// list. Links to files and folders are followed, but not back to a folder that they are in. Passed
// over are: other files; links to nothing; files beginning with "._", which macOS adds; folders
// whose name begins with a dot and __MACOSX; and, as a whole, a folder in `dir` without images.
//
// Throws BadInput naming a folder that cannot be listed.
ClassFolders ListClassFolders(const std::string& dir);

// "a, b, c and 4 more": the first few entries of a folder, for messages; "nothing" if it has none.
std::string EntriesOf(const std::string& dir);

}  // namespace torus::data
