package resource

// Kind describes one kind of object to everything that handles any of them:
// the reader of documents, the store, the API.
type Kind struct {
	// Name is what documents write as kind.
	Name string
	// New makes an empty object.
	New func() Object
	// ReadOnly are fields of a GET answer that a document may have and that
	// are ignored, besides those of every kind. A dot steps into an object or
	// into each object of a list.
	ReadOnly []string
}

// Kinds are the kinds that are built.
func Kinds() []Kind {
	return []Kind{
		{Name: "Provider", New: func() Object { return &Provider{} }, ReadOnly: []string{"hasApiKey", "apiKeyLast4", "credentialMode", "usedBy"}},
		{Name: "Route", New: func() Object { return &Route{} }, ReadOnly: []string{"tag", "grantedBy", "members.credentialMode", "members.state", "members.until"}},
		{Name: "Key", New: func() Object { return &Key{} }, ReadOnly: []string{"id", "last4", "rotatedFrom", "active", "endsAt", "providerCredential.hasApiKey", "providerCredential.apiKeyLast4"}},
		{Name: "Model", New: func() Object { return &Model{} }},
		{Name: "Department", New: func() Object { return &Department{} }},
		{Name: "Team", New: func() Object { return &Team{} }},
		{Name: "User", New: func() Object { return &User{} }, ReadOnly: []string{"hasPassword"}},
		{Name: "Settings", New: func() Object { return &Settings{} }},
	}
}

// FindKind gives the kind with a name.
func FindKind(name string) (Kind, bool) {
	for _, k := range Kinds() {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// ReadOnlyFields gives every field of a kind's GET answer that a document may
// have and that is ignored.
func (k Kind) ReadOnlyFields() []string {
	return append([]string{"createdAt", "updatedAt", "version", "warnings", "managedBy", "managedIn"}, k.ReadOnly...)
}
