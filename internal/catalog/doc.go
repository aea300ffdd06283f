// Package catalog holds what is known of vendors, as data: base URLs, how a
// key is sent, family, default model patterns, and how their failures look.
package catalog
