package admin_test

import (
	"strings"
	"testing"
)

// AP: GET shows the values that hold where an object leaves them out, or says
// false; sent back they change nothing, and no export has them.
func TestAP_GET_shows_what_holds(t *testing.T) {
	e := newEnv(t)
	e.admin("PUT", "/providers/p", `{"type":"openai","dataHandling":{"zeroDataRetention":true,"noPromptTraining":false},"healthProbe":{"enabled":false,"intervalSeconds":30}}`).want(201)
	e.admin("PUT", "/providers/bare", `{"type":"openai"}`).want(201)
	e.admin("PUT", "/routes/r", routeBody("p", "m-*")).want(201)
	e.admin("PUT", "/settings", `{"residencies":["nordics"]}`).want(200)
	export := string(e.get("/export").body)
	for path, want := range map[string]map[string]string{
		"/providers/p": {
			"drained": "false", "http2": "false", "allowInsecure": "false", "maxConcurrent": "0", "enabled": "true", "residency": `"global"`,
			"dataHandling": `{"noPromptTraining":false,"zeroDataRetention":true}`, "healthProbe": `{"enabled":false,"intervalSeconds":30}`,
		},
		"/providers/bare": {"dataHandling": `{"noPromptTraining":false,"zeroDataRetention":false}`, "healthProbe": `{"enabled":false}`},
		"/routes/r":       {"orgKeyFallbackForCallerCredentials": "false", "allowCrossProvider": "false", "switchFamilyOnQuota": "true"},
		"/settings": {
			"residencies": `["on-prem","eu","us","global","nordics"]`, "requireDataHandling": `{"noPromptTraining":false,"zeroDataRetention":false}`,
			"globalPassthrough": "false", "allowAnonymousPassthrough": "false", "unknownModelStatus": "503",
		},
	} {
		got := e.get(path)
		for field, value := range want {
			if v := toJSON(t, got.object()[field]); v != value {
				t.Errorf("%s %s: %s, want %s", path, field, v, value)
			}
		}
		version := e.revision()
		if e.admin("PUT", path, got.body).want(200); e.revision() != version {
			t.Errorf("%s: what it shows is a change: %s", path, e.get("/config-versions?limit=1").body)
		}
	}
	if again := string(e.get("/export").body); again != export || strings.Contains(export, "drained") || strings.Contains(export, "on-prem") {
		t.Errorf("the export is\n%s", again)
	}
	// Written out on a new object they are no more than left out.
	bare := e.get("/providers/bare").object()
	delete(bare, "name")
	e.admin("PUT", "/providers/copy", bare).want(201)
	if a, b := e.storedSpec("Provider", "bare"), e.storedSpec("Provider", "copy"); a != strings.Replace(b, `"copy"`, `"bare"`, 1) {
		t.Errorf("stored are\n%s\n%s", a, b)
	}
}

// RS-SET: the settings of a new installation show the residencies there are.
func TestRS_SET_residencies_of_a_new_installation(t *testing.T) {
	if got := toJSON(t, newEnv(t).get("/settings").object()["residencies"]); got != `["on-prem","eu","us","global"]` {
		t.Error(got)
	}
}
