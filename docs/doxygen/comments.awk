# Doxygen's input filter: turns the plain comments of a header into Doxygen's. Gives a line for each
# line, so that warnings name the header's own.
#
#   // comment              at the top of a file, and before a declaration, is its documentation
#   code;  // comment       is that of what the code declares
#   // comment              before a blank line, and within a function, stays a comment
#
# A comment also holds
#   - for the declarations right below the one that it stands before (no blank line, no comment of
#     their own): for functions of a namespace, for overloads, and for what it names;
#   - if it is a class's: for its constructors, for members that it names, and for all if it says
#     what "members without a comment" are;
#   - if it is a file's: for what the file is named after, and for what it names.
# What overrides, is deleted, made by the compiler or a destructor needs none.

# A comment's text as Doxygen should print it: nothing in it is a command or markup.
function escaped(line) {
  gsub(/[\\@&<>#%$"]/, "\\\\&", line)
  gsub(/::/, "\\::", line)
  gsub(/\*\//, "* /", line)
  return line
}

function is_comment(line) { return line ~ /^ *\/\/( |$)/ }

# Where the comment behind code begins, or 0. clang-format puts two spaces before it.
function comment_behind(line,    at) {
  at = index(line, "  // ")
  return at > 0 && !is_comment(line) && substr(line, at) !~ /\/\/ NOLINT/ ? at + 2 : 0
}

# Code without comment, strings and characters, which may hold braces.
function bare(line) {
  gsub(/\\./, "", line)
  gsub(/"[^"]*"/, "0", line)
  gsub(/'[^']*'/, "0", line)
  sub(/\/\/.*/, "", line)
  return line
}

# The name that a statement declares: the word before its first parenthesis, = or brace, and before
# the bases of a class.
function name_of(statement) {
  sub(/operator *[^ A-Za-z_(]+/, "operator", statement)
  while (sub(/<[^<>]*>/, "", statement)) {
  }
  sub(/^ *template */, "", statement)
  sub(/[({;=].*/, "", statement)
  if (statement ~ /^ *(class|struct|union|enum) /) sub(/ (:|final) .*/, "", statement)
  sub(/ *$/, "", statement)
  sub(/.*[^A-Za-z0-9_]/, "", statement)
  return statement
}

function mentions(comment, name) {
  return name != "" && (" " comment " ") ~ ("[^A-Za-z0-9_]" name "[^A-Za-z0-9_]")
}

# What the braces behind a statement hold: declarations, numbers of an enum, or a function's body or
# a value, in which nothing is documented.
function kind_of(statement) {
  statement = " " statement
  if (statement ~ /[(=]/) return "body"
  if (statement ~ /[^A-Za-z0-9_]enum[^A-Za-z0-9_]/) return "enum"
  return statement ~ /[^A-Za-z0-9_](namespace|class|struct|union)[^A-Za-z0-9_]/ ? "scope" : "body"
}

function in_body() { return depth > 0 && kind[depth] == "body" }

# Remembers the class or namespace that a brace opens, with the comment of what was documented last.
function enter_scope() {
  scope_name[depth] = name_of(statement)
  is_namespace[depth] = (" " statement) ~ / namespace /
  scope_comment[depth] = last_documented == scope_name[depth] ? last_comment : ""
}

# What is said of the members of the class at hand.
function of_members() {
  if (depth == 0) return ""
  return tolower(scope_comment[depth]) ~ /members[ \n]without[ \n]a[ \n]comment/ ? scope_comment[depth] : ""
}

# "sgd.h" is named after Sgd.
function is_of_file(name,    file) {
  file = FILENAME
  sub(/.*\//, "", file)
  sub(/\..*/, "", file)
  gsub(/_/, "", file)
  return tolower(name) == file
}

# Follows the statements and braces of line i: `statement` is what has begun and not ended.
function follow(i,    code, k, c) {
  if (text[i] ~ /^ *#/ || in_macro) {
    in_macro = text[i] ~ /\\$/
    return
  }
  code = bare(text[i])
  sub(/alignas\([0-9]+\) /, "", code)
  sub(/^ *(public|private|protected):/, "", code)
  # A macro that stands for declarations has no semicolon.
  if (statement ~ /^ *$/ && code ~ /^ *[A-Z_0-9]+\([^()]*\) *$/) return
  for (k = 1; k <= length(code); ++k) {
    c = substr(code, k, 1)
    if (c == "{") {
      kind[depth + 1] = in_body() ? "body" : kind_of(statement)
      ++depth
      if (!in_body()) enter_scope()
      if (!in_body()) statement = ""
    } else if (c == "}") {
      --depth
      # A function ends with its brace; behind a value or a class comes more.
      if (!in_body() && substr(code, k + 1) ~ /^ *$/) statement = ""
    } else if (!in_body()) {
      if (c == ";" || (c == "," && depth > 0 && kind[depth] == "enum"))
        statement = ""
      else
        statement = statement c
    }
  }
  if (!in_body()) statement = statement " "
}

# The whole statement that begins in line i, up to its semicolon or brace; `last` is its last line.
function statement_at(i,    whole) {
  whole = ""
  for (last = i; last <= NR; ++last) {
    whole = whole " " bare(text[last])
    sub(/alignas\([0-9]+\) /, "", whole)
    if (whole ~ /[;{}]/ || text[last] ~ /^ *#/) break
    if (last < NR && (text[last + 1] ~ /^ *$/ || is_comment(text[last + 1]))) break
  }
  return whole
}

function declares(line) {
  if (line ~ /^#define / || line ~ /^ *friend .*operator/) return 1
  return line !~ /^ *(#|\}|$|friend |namespace |using namespace |static_assert)/ && line !~ /^ *(public|private|protected):/
}

# The text of the comment lines from..to.
function comment_of(from, to,    all, i, line) {
  all = ""
  for (i = from; i <= to; ++i) {
    line = text[i]
    sub(/^ *\/\/ ?/, "", line)
    all = all (i == from ? "" : "\n") line
  }
  return all
}

# Makes the comment behind the code of line i that of the code, with the lines that go on below it.
function take_behind(i,    at, comment, k) {
  at = comment_behind(text[i])
  comment = substr(text[i], at + 3)
  out[i] = substr(text[i], 1, at - 1)
  for (k = i + 1; k <= NR && is_comment(text[k]) && index(text[k], "//") == at; ++k) {
    comment = comment " " comment_of(k, k)
    out[k] = ""
    taken[k] = 1
  }
  return comment
}

# Whether the comment of the declaration above holds for this one too.
function goes_on_for(whole, name) {
  if (name == shared_name || mentions(shared, name)) return 1
  return whole ~ /\(/ && whole !~ /^ *using / && (depth == 0 || is_namespace[depth])
}

# The documentation of a statement without a comment of its own, or nothing.
function implied(whole, name) {
  if (whole ~ / override *[;{]| final *[;{]/ && whole ~ /\(/) return "As the base class says."
  if (whole ~ /= delete/) return "Deleted."
  if (whole ~ /= default/) return "The compiler's."
  if (whole ~ /^[^(]*~/) return "Destructor."
  if (depth > 0 && name != "" && name == scope_name[depth] && scope_comment[depth] != "")
    return "Constructor; the class says more."
  if (of_members() != "") return "The class says what this is."
  if (file_comment != "" && (depth == 0 || is_namespace[depth]))
    if (is_of_file(name) || mentions(file_comment, name)) return file_comment
  return ""
}

# A line that declares several variables, as one declaration with the comment for each: Doxygen
# would take it for the first one's alone.
function apart(line, comment,    plain, head, parts, n, k, type, all) {
  plain = line
  gsub(/( = )?\{[^{},]*\}/, "", plain)
  while (sub(/<[^<>]*>/, "", plain)) {
  }
  if (plain !~ /^[^(){}<>]*,[^(){}<>]*; *$/) return line
  sub(/; *$/, "", line)
  # Commas within the type's own brackets separate nothing.
  head = match(line, /.*>/) ? substr(line, 1, RLENGTH) : ""
  n = split(substr(line, length(head) + 1), parts, /, */)
  type = parts[1]
  sub(/ *[={].*/, "", type)
  sub(/[A-Za-z0-9_]+ *$/, "", type)
  all = head parts[1] ";"
  for (k = 2; k <= n; ++k) all = all " " comment head type parts[k] ";"
  return all
}

# Documents what begins in line i; `comment` stands before it, or is empty.
function document(i, comment,    whole, name, behind, own) {
  whole = statement_at(i)
  name = name_of(whole)
  own = comment != ""
  behind = ""
  for (k = i; k <= last; ++k)
    if (comment_behind(text[k])) behind = behind (behind == "" ? "" : " ") take_behind(k)
  if (own) {
    shared = comment
    shared_name = name
  } else if (behind == "" && shared != "" && goes_on_for(whole, name)) {
    comment = shared
  }
  if (behind != "") comment = comment (comment == "" ? "" : "\n") behind
  if (comment == "") comment = implied(whole, name)
  if (comment == "") return
  last_documented = name
  last_comment = comment
  comment = escaped(comment)
  gsub(/\n/, " ", comment)
  comment = "/** " comment " */ "
  out[i] = comment (last == i ? apart(out[i], comment) : out[i])
}

{ text[NR] = out[NR] = $0 }

END {
  at_top = 1
  for (i = 1; i <= NR; ++i) {
    if (taken[i] || in_macro || in_body() || statement !~ /^ *$/) {
      follow(i)
      continue
    }
    if (is_comment(text[i])) {
      for (end = i; end < NR && is_comment(text[end + 1]);) ++end
      comment = comment_of(i, end)
      if (at_top) {
        file_comment = comment
        file = escaped(comment)
        gsub(/\n/, " ", file)
        for (k = i; k <= end; ++k) out[k] = ""
        out[i] = "/** " file " \\file */"
        at_top = 0
      } else if (end < NR && declares(text[end + 1])) {
        for (k = i; k <= end; ++k) out[k] = ""
        document(end + 1, comment)
        follow(end + 1)
        ++end
      }
      i = end
      continue
    }
    if (text[i] ~ /^ *(}.*)?$/) shared = ""
    else if (declares(text[i]) && text[i] !~ /^#/) document(i, "")
    follow(i)
  }
  for (i = 1; i <= NR; ++i) {
    # fmt's formatters of our types are nothing to name.
    if (out[i] ~ /(struct|class) fmt::formatter/) hidden = 1
    print hidden ? "" : out[i]
    if (text[i] ~ /^}/) hidden = 0
  }
}
