// All labs, their blank reports, and the main function of a lab's program.
#pragma once

#include <string>
#include <vector>

#include "tools/labs/questions/lab_form.h"

namespace torus::labs {

// All labs, in the order of the course.
const std::vector<Lab>& Labs();
// Throws BadInput, with the list of names, for an unknown name.
const Lab& LabByName(const std::string& name);

// The blank report, for students to fill in.
study::Page BlankReport(const Lab& lab, const LabOptions& options);

// A lab's program: reads the flags, runs the lab, writes OUT/NAME.html, .md and .csv, and the blank
// report OUT/NAME_report.html and .md. If a signal ends it early, it writes what it has measured as
// OUT/NAME_so_far.html and .md. Returns the program's status.
int LabMain(const std::string& name, int argc, const char* const* argv);

}  // namespace torus::labs
