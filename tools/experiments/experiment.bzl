"""An experiment: a folder NAME with NAME.h, NAME.cc, main.cc and, where figures were published, published.tsv."""

load("//third_party/bazel:cc.bzl", "torus_binary", "torus_library")

def published_table(name):
    """NAME_published.cc: published.tsv as a string, so that the program needs no file."""
    symbol = "k%sPublished" % "".join([word.capitalize() for word in name.split("_")])
    native.genrule(
        name = name + "_published",
        srcs = ["published.tsv"],
        outs = [name + "_published.cc"],
        cmd = """
          {
            echo '#include "tools/experiments/%s/%s.h"'
            echo 'namespace torus::experiments {'
            printf 'const std::string_view %s(R"__table__('
            cat $(location published.tsv)
            echo ')__table__");'
            echo '}'
          } > $@
        """ % (name, name, symbol),
    )

def experiment(name, deps = [], published = True):
    """The program `name` and what it does, `name_lib`. published.tsv becomes kNAMEPublished, which NAME.h declares."""
    if published:
        published_table(name)
    torus_library(
        name = name + "_lib",
        hdrs = [name + ".h"],
        srcs = [name + ".cc"] + ([name + "_published.cc"] if published else []),
        deps = deps + [
            "//recipes/study:page",
            "//tools/experiments/common:cells",
            "//tools/experiments/common:experiment",
            "//tools/experiments/common:published",
            "//tools/experiments/common:what_differs",
        ],
    )
    torus_binary(
        name = name,
        srcs = ["main.cc"],
        deps = [
            ":%s_lib" % name,
            "//tools/experiments/common:experiment_main",
        ],
    )
