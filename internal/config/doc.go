// Package config reads the installation's configuration: one YAML file, the
// resource documents that it names, and --set overrides.
//
// It owns the shape, the defaults and the limits of every setting. Reading is
// strict: an unknown key, a wrong type, a number out of range, a missing
// environment variable or file, or a setting whose part is not built yet
// stops the start, and every problem says in which file, at which line and
// column, what was expected and what was found (CF-1). As many problems as
// can be found are reported at once, as resource.Problems.
//
// Checks across resources are the compiler's (package snapshot); documents
// keep their places so that it can locate its own problems.
package config
