package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-gateway/interlock/internal/config/yamldoc"
	"github.com/interlock-gateway/interlock/internal/resource"
)

// document is a resource document while it is being checked.
type document struct {
	resource.Document
	decoded *yamldoc.Decoded
}

// readDocuments reads resources.inline, then resources.files.
func (l *loader) readDocuments() {
	if !l.decoded.Explains("resources.inline") {
		for i := range l.config.Resources.Inline {
			l.addDocument(&l.config.Resources.Inline[i])
		}
	}
	for _, path := range l.resourceFiles() {
		l.noteFile(path)
		src, err := l.options.ReadFile(path)
		if err != nil {
			l.problem(resource.Problem{
				Code: resource.CodeInvalid, Path: "resources.files", Pos: l.locate("resources.files"),
				Message: "the file " + readProblem(path, err),
			})
			continue
		}
		docs, ps := yamldoc.Parse(path, src)
		l.problem(ps...)
		for _, d := range docs {
			l.addDocument(d)
		}
	}
}

const lackedKey = "providerCredential.apiKey"

func (l *loader) addDocument(d *yamldoc.Doc) {
	doc, ps := readDocument(d)
	l.problem(ps...)
	if doc == nil {
		return
	}
	if k, ok := doc.Object.(*resource.Key); ok && k.LacksCredential() && !doc.decoded.Explains(lackedKey) { // nothing stored stands in for it
		l.problem(resource.Problem{Code: resource.CodeInvalid, Object: reference(k), Path: lackedKey, Pos: d.Locate(lackedKey), Message: "the key is missing; write env:NAME or file:PATH"})
	}
	l.docs = append(l.docs, doc)
}

// ReadDocuments reads the resource documents of one file: strictly, with each
// object's own checks, but without resolving secrets. The name is for places.
func ReadDocuments(name string, src []byte) ([]resource.Document, resource.Problems) {
	parsed, problems := yamldoc.Parse(name, src)
	var docs []resource.Document
	for _, d := range parsed {
		doc, ps := readDocument(d)
		problems = append(problems, ps...)
		if doc != nil {
			docs = append(docs, doc.Document)
		}
	}
	return docs, problems
}

// readDocument reads one document and checks its object by itself. The
// document is nil if its kind is unknown.
func readDocument(d *yamldoc.Doc) (*document, resource.Problems) {
	kind, problem := documentKind(d)
	if problem != nil {
		return nil, resource.Problems{*problem}
	}
	object := kind.New()
	doc := &document{Document: resource.Document{Object: object, Locate: d.Locate}}
	doc.decoded = d.Decode(object, "", kind.ReadOnlyFields())
	object.Head().Kind = kind.Name
	doc.Nulls = doc.decoded.Nulls
	ps := doc.decoded.Problems
	found := object.Check()
	for _, p := range slices.Concat(resource.NotBuilt(object), resource.CheckDocument(object)) {
		if !slices.ContainsFunc(found, func(f resource.Problem) bool { return f.Path == p.Path }) {
			found = append(found, p)
		}
	}
	for _, p := range found {
		if !doc.decoded.Explains(p.Path) {
			p.Pos = d.Locate(p.Path)
			ps = append(ps, p)
		}
	}
	for i := range ps {
		ps[i].Object = reference(object)
	}
	return doc, ps
}

func reference(o resource.Object) resource.Ref {
	return resource.Ref{Kind: o.Head().Kind, Name: o.Head().Name}
}

// documentKind finds out what a document is.
func documentKind(d *yamldoc.Doc) (resource.Kind, *resource.Problem) {
	refuse := func(code string, pos *resource.Position, format string, args ...any) (resource.Kind, *resource.Problem) {
		return resource.Kind{}, &resource.Problem{Code: code, Message: fmt.Sprintf(format, args...), Pos: pos}
	}
	if !d.IsMapping() {
		return refuse(resource.CodeInvalid, d.Pos(), "expected a resource document (kind, name, then its fields), found %s", d.Describe())
	}
	var known []string
	for _, k := range resource.Kinds() {
		known = append(known, k.Name)
	}
	name, ok := d.Text("kind")
	if !ok {
		return refuse(resource.CodeInvalid, d.Locate("kind"), "the document has no kind; begin it with kind: and one of %s", strings.Join(known, ", "))
	}
	if kind, ok := resource.FindKind(name); ok {
		return kind, nil
	}
	if slices.Contains(resource.NotBuiltKinds(), name) {
		return refuse(resource.CodeNotBuilt, d.Locate("kind"), "kind %s is not part of this version yet", name)
	}
	hint := "known are " + strings.Join(known, ", ")
	if s := yamldoc.Suggest(name, append(known, resource.NotBuiltKinds()...)); s != "" {
		hint = "did you mean " + s + "? " + hint
	}
	return refuse(resource.CodeInvalid, d.Locate("kind"), "unknown kind %q; %s", shortened(name), hint)
}

// checkDuplicates refuses a second document of the same kind and name.
func (l *loader) checkDuplicates() {
	first := make(map[resource.Ref]*document, len(l.docs))
	for _, d := range l.docs {
		ref := reference(d.Object)
		if ref.Name == "" {
			continue
		}
		key := resource.NameKey(ref)
		other, twice := first[key]
		if !twice {
			first[key] = d
			continue
		}
		l.problem(resource.Problem{
			Code: resource.CodeNameTaken, Object: ref, Path: "name", Pos: d.Locate("name"), Refs: []resource.Ref{reference(other.Object)},
			Message: fmt.Sprintf("there is another %s of this name at %s; rename or remove one", ref.Kind, other.Locate("name")),
		})
	}
}

// resolveSecrets makes sure that every reference has a value, but for those of
// objects that take no requests. The values are not kept.
func (l *loader) resolveSecrets() {
	for i, ref := range l.config.Auth.AdminTokens {
		l.resolveSetting(resource.IndexPath("auth.adminTokens", i), ref)
	}
	l.resolveSetting("auth.oidc.clientSecret", l.config.Auth.OIDC.ClientSecret)
	for _, d := range l.docs {
		for _, r := range resource.SecretRefs(d.Object) {
			if resource.IsLiteralSecret(r.Ref) || resource.CheckSecretRef(r.Ref) != nil || d.decoded.Explains(r.Path) {
				continue
			}
			if err := l.resolve(d.Object, r); err != nil && !resource.IsOff(d.Object) {
				l.problem(resource.Problem{
					Code: resource.CodeSecret, Object: reference(d.Object), Path: r.Path, Pos: d.Locate(r.Path), Message: err.Error(),
				})
			}
		}
	}
}

func (l *loader) resolveSetting(path, ref string) {
	if ref == "" || resource.IsLiteralSecret(ref) || resource.CheckSecretRef(ref) != nil {
		return
	}
	if _, err := l.secrets.Resolve(ref); err != nil {
		l.setting(resource.CodeSecret, path, "%s", missing(ref, err))
	}
}

// resolve resolves a reference of an object and checks the form of its value.
func (l *loader) resolve(o resource.Object, r resource.SecretRef) error {
	value, err := l.secrets.Resolve(r.Ref)
	if err != nil {
		return errors.New(missing(r.Ref, err))
	}
	switch o := o.(type) {
	case *resource.Provider:
		if r.Path == "apiKey" {
			err = resource.CheckProviderKey(o, value.Reveal())
		}
	case *resource.Key:
		if r.Path == "secret" {
			err = resource.CheckKeySecret(value.Reveal())
		}
	}
	if err != nil {
		return fmt.Errorf("the value of %s is refused: %w", r.Ref, err)
	}
	return nil
}

// missing adds what to do to the resolver's error.
func missing(ref string, err error) string {
	if strings.HasPrefix(ref, "env:") {
		return err.Error() + "; set it, or change the reference"
	}
	return err.Error() + "; put the secret there, or change the reference"
}

// noteFile gives a file its place in the report.
func (l *loader) noteFile(path string) {
	if _, known := l.order[path]; !known {
		l.order[path] = len(l.order)
	}
}

// sorted puts the problems in the order of the files, and bounds them.
func (l *loader) sorted() resource.Problems {
	const limit = 100
	slices.SortStableFunc(l.problems, func(a, b resource.Problem) int {
		switch {
		case a.Pos == nil && b.Pos == nil:
			return 0
		case a.Pos == nil:
			return -1
		case b.Pos == nil:
			return 1
		}
		return cmp.Or(cmp.Compare(l.order[a.Pos.File], l.order[b.Pos.File]),
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Column, b.Pos.Column))
	})
	if rest := len(l.problems) - limit; rest > 0 {
		return append(l.problems[:limit:limit], resource.Problem{
			Code: resource.CodeInvalid, Message: fmt.Sprintf("there are %d more problems; they are shown when these are solved", rest),
		})
	}
	return l.problems
}
