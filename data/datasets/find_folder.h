// Finds a published dataset in the folder that a user names, or where its archive unpacks to.
#pragma once

#include <string>
#include <vector>

namespace torus::data {

struct PublishedFolder {
  std::string title;                // "CIFAR-10"
  std::string file;                 // a file that it has, such as "batches.meta.txt"
  std::vector<std::string> inside;  // folders within the one given that may have it
  std::string hint;                 // ends the message if nothing is found; may be empty
};

// Returns `dir` or the first of `dir`/inside that has the file. Throws BadInput:
// "[dir] no CIFAR-10 here: looked for batches.meta.txt, also in cifar-10-batches-bin; got a, b".
std::string FindFolder(const std::string& dir, const PublishedFolder& published);

}  // namespace torus::data
