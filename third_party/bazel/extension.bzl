"""What torus_deps() defines in a WORKSPACE, for MODULE.bazel. Untested: Debian 12 has no Bazel that reads modules."""

load("//third_party/bazel:deps.bzl", "system_repositories")

def _define(rule, name, **kwargs):
    rule(name = name, **kwargs)

def _system_impl(_):
    system_repositories(_define)

system = module_extension(implementation = _system_impl)
