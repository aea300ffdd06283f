package fakellm

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestRulesMatch(t *testing.T) {
	for _, c := range []struct {
		name   string
		rule   Rule
		header []string
		taken  bool
	}{
		{"no condition", Rule{}, nil, true},
		{"path", Rule{Path: `/chat/`}, nil, true},
		{"another path", Rule{Path: `^/chat/`}, nil, false},
		{"method", Rule{Method: "POST"}, nil, true},
		{"another method", Rule{Method: "GET"}, nil, false},
		{"body", Rule{BodyRE: `"model":\s*"gpt`}, nil, true},
		{"another body", Rule{BodyRE: `claude`}, nil, false},
		{"a header that is there", Rule{Header: "x-tier"}, []string{"X-Tier", "gold"}, true},
		{"a header that is missing", Rule{Header: "X-Tier"}, nil, false},
		{"a header's value", Rule{Header: "X-Tier", HeaderRE: "^gold$"}, []string{"X-Tier", "gold"}, true},
		{"a header's other value", Rule{Header: "X-Tier", HeaderRE: "^gold$"}, []string{"X-Tier", "silver"}, false},
		{"the host", Rule{Header: "Host", HeaderRE: "^127"}, nil, true},
		{"all conditions at once", Rule{Method: "POST", Path: "chat", BodyRE: "gpt", Header: "X-A"}, []string{"X-A", "1"}, true},
		{"all but one", Rule{Method: "POST", Path: "chat", BodyRE: "gemini", Header: "X-A"}, []string{"X-A", "1"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.rule.Action, c.rule.Status, c.rule.Name = ActionStatus, 418, "it"
			f := start(t, c.rule)
			a := f.post(chatPath, `{"model":"gpt-5.2"}`, c.header...)
			if (a.status == 418) != c.taken {
				t.Errorf("status %d", a.status)
			}
			if got := f.Records()[0].Rule; (got == "it") != c.taken {
				t.Errorf("recorded rule %q", got)
			}
		})
	}
}

func TestSkipAndTimesCountMatchingRequests(t *testing.T) {
	f := start(t,
		Rule{Path: "/messages", Action: ActionStatus, Status: 500, Skip: 1, Times: 2},
		Rule{Path: "/messages", Action: ActionStatus, Status: 503, Skip: 1})
	var got []string
	for range 5 {
		got = append(got, fmt.Sprint(f.post(messagesPath, `{}`).status))
		f.post(chatPath, `{}`) // does not count
	}
	// The first passes both; the second rule sees what the first lets through.
	if s := strings.Join(got, " "); s != "200 500 500 503 503" {
		t.Errorf("got %s", s)
	}
}

func TestTimesHoldsUnderConcurrency(t *testing.T) {
	f := start(t, Rule{Action: ActionStatus, Status: 500, Times: 7})
	var mu sync.Mutex
	counts := map[int]int{}
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			status := f.post(chatPath, `{}`).status
			mu.Lock()
			counts[status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if counts[500] != 7 || counts[200] != 33 {
		t.Errorf("got %v", counts)
	}
}

func TestAddedRulesComeLast(t *testing.T) {
	f := start(t, Rule{Action: ActionStatus, Status: 500, Times: 1})
	if err := f.AddRule(Rule{Action: ActionStatus, Status: 503}); err != nil {
		t.Fatal(err)
	}
	got := []int{f.post(chatPath, `{}`).status, f.post(chatPath, `{}`).status}
	f.Reset()
	if got = append(got, f.post(chatPath, `{}`).status); !slices.Equal(got, []int{500, 503, 200}) {
		t.Errorf("got %v", got)
	}
}

func TestBadRulesAreRefusedAndChangeNothing(t *testing.T) {
	f := start(t, Rule{Action: ActionStatus, Status: 418})
	for _, r := range []Rule{
		{Action: "explode"}, {Path: "("}, {BodyRE: "("}, {Header: "X", HeaderRE: "("}, {HeaderRE: "x"}, {Action: ActionCut, Cut: "slowly"},
	} {
		if err := f.SetRules([]Rule{{}, r}); err == nil {
			t.Errorf("accepted %+v", r)
		}
	}
	if a := f.post(chatPath, `{}`); a.status != 418 {
		t.Errorf("status %d", a.status)
	}
}
