//go:build !noui

// Package ui is the web application of the console, as its build in dist left
// it. Without that build, or with the tag noui, there is no application, and
// the program works all the same. It imports only the standard library.
package ui

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Files are the files of the application; nil if it is not part of the program.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil // nobody built it
	}
	return files
}
