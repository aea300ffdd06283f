package cli

import (
	"bytes"
	"encoding/json"

	"github.com/interlock-gateway/interlock/internal/config"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// splitJSON takes the form apart in which a server exports documents as JSON,
// {"documents": [ … ]}. Each part has its document where it was, and blanks
// before it, so that places stay right. It is nil for anything else.
func splitJSON(src []byte) [][]byte {
	if !bytes.HasPrefix(bytes.TrimLeft(src, " \t\r\n"), []byte("{")) {
		return nil // most files, without reading them
	}
	var file struct {
		Documents *[]json.RawMessage `json:"documents"`
	}
	strict := json.NewDecoder(bytes.NewReader(src))
	strict.DisallowUnknownFields()
	if strict.Decode(&file) != nil || file.Documents == nil || strict.More() {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(src))
	for range 3 { // { "documents" [
		if _, err := dec.Token(); err != nil {
			return nil
		}
	}
	parts := [][]byte{}
	for dec.More() {
		var doc json.RawMessage
		if dec.Decode(&doc) != nil {
			return nil
		}
		before := src[:int(dec.InputOffset())-len(doc)]
		blank := bytes.Map(func(r rune) rune { // columns count characters
			if r == '\n' {
				return r
			}
			return ' '
		}, before)
		parts = append(parts, append(blank, doc...))
	}
	return parts
}

// readDocuments reads a file of documents, in YAML or as a server exports them
// in JSON.
func readDocuments(name string, src []byte) (docs []resource.Document, problems resource.Problems) {
	parts := splitJSON(src)
	if parts == nil {
		return config.ReadDocuments(name, src)
	}
	for _, part := range parts {
		d, ps := config.ReadDocuments(name, part)
		docs, problems = append(docs, d...), append(problems, ps...)
	}
	return docs, problems
}
