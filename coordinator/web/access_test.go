package web

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/internal/await"
)

// insecureTLS is for tests that ask about other things than whom they talk to.
func insecureTLS() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// Strangers see the page to log in, and nothing else.
func TestStrangersAreKeptOut(t *testing.T) {
	r := newRig(t, nil)
	for _, path := range addresses {
		got := r.get(path)
		if to := got.Header.Get("Location"); got.StatusCode != http.StatusSeeOther || to != "/login?next="+url.QueryEscape(path) {
			t.Errorf("%s: %s to %s", path, got.Status, to)
		}
	}
	for path := range fetched {
		if got := r.get(path); got.StatusCode != http.StatusSeeOther || strings.Contains(got.body, "<svg") {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	for _, path := range []string{"/events", "/workers/events", "/sweeps/" + theSweep + "/events"} {
		request, _ := http.NewRequest(http.MethodGet, r.server.URL()+path, nil)
		request.Header.Set("Accept", "text/event-stream")
		if got := r.do(r.client, request); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	for _, path := range []string{"/share", "/logout", "/sweeps/" + theSweep + "/cancel"} {
		if got := r.post(path, url.Values{"csrf": {"x"}}); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	if did := r.did(); did != "" {
		t.Error(did)
	}
}

func TestTokens(t *testing.T) {
	r := newRig(t, nil)
	good := r.token(access.User, 0, false)
	ended := r.token(access.User, time.Nanosecond, false)
	worker := r.token(access.Worker, 0, false)
	of := newRig(t, nil).token(access.User, 0, false)
	time.Sleep(time.Millisecond)
	for _, test := range []struct{ name, token, says string }{
		{"none", "", "not a token"},
		{"nonsense", "hunter2", "not a token"},
		{"a worker&#39;s", worker, "for workers"},
		{"that has ended", ended, "has ended"},
		{"another coordinator's", of, "not one of this coordinator"},
		{"one letter more", good + "a", "not a token"},
	} {
		got := r.post("/login", url.Values{"token": {test.token}})
		if got.StatusCode != http.StatusForbidden || !strings.Contains(got.body, test.says) || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s\n%s", test.name, got.Status, got.body)
		}
		if test.token != "" && strings.Contains(got.body, test.token) {
			t.Errorf("%s: the page repeats the token", test.name)
		}
	}
	got := r.post("/login", url.Values{"token": {" " + good + "\n"}, "next": {"/workers"}})
	cookie := got.Header.Get("Set-Cookie")
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/workers" {
		t.Errorf("%s to %s", got.Status, got.Header.Get("Location"))
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie is not %s: %s", want, cookie)
		}
	}
	secret := strings.Split(good, "-")[2]
	if strings.Contains(cookie, secret) {
		t.Error("the cookie has the token")
	}
	r.stop()
	for _, secret := range []string{secret, strings.Split(worker, "-")[2], strings.Split(of, "-")[2]} {
		if strings.Contains(r.log.String(), secret) {
			t.Errorf("the log has a secret:\n%s", r.log)
		}
	}
}

// Who tries many tokens is told no more than that, and the right token lets in all the same, as often as it is shown.
func TestManyTokens(t *testing.T) {
	r := newRig(t, nil)
	right := r.token(access.User, 0, false)
	var statuses []int
	for range 200 {
		statuses = append(statuses, r.post("/login", url.Values{"token": {"guess"}}).StatusCode)
	}
	if statuses[0] != http.StatusForbidden || !slices.Contains(statuses, http.StatusTooManyRequests) {
		t.Error(statuses)
	}
	for range 50 {
		if got := r.post("/login", url.Values{"token": {right}}); got.StatusCode != http.StatusSeeOther {
			t.Fatalf("the right token: %s", got.Status)
		}
	}
}

// A session that was ended is of no more use, wherever its cookie is kept; others of the same token go on.
func TestLogoutEndsTheSession(t *testing.T) {
	r := newRig(t, nil)
	right := r.token(access.User, 0, false)
	home, _ := url.Parse(r.server.URL())
	enter := func() *http.Cookie {
		if got := r.post("/login", url.Values{"token": {right}}); got.StatusCode != http.StatusSeeOther {
			t.Fatal(got.Status)
		}
		return r.client.Jar.Cookies(home)[0]
	}
	open := func(cookie *http.Cookie) bool {
		request, _ := http.NewRequest(http.MethodGet, r.server.URL()+"/workers", nil)
		request.AddCookie(cookie)
		return r.do(r.visitor(), request).StatusCode == http.StatusOK
	}
	other := enter()
	mine := enter()
	if !open(mine) || !open(other) {
		t.Fatal("a session does not open the page")
	}
	r.post("/logout", url.Values{"csrf": {"forged"}})
	if !open(mine) {
		t.Error("a forged form has ended the session")
	}
	_, csrf, _ := strings.Cut(r.get("/workers").body, `name="csrf" value="`)
	csrf, _, _ = strings.Cut(csrf, `"`)
	r.post("/logout", url.Values{"csrf": {csrf}})
	if open(mine) || !open(other) {
		t.Errorf("after logging out: this session opens the page %v, another %v", open(mine), open(other))
	}
}

// A cookie is worth nothing once it was changed, or signed with another key or for another purpose.
func TestCookies(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	home, _ := url.Parse(r.server.URL())
	cookie := r.client.Jar.Cookies(home)[0]
	other := newRig(t, nil)
	claim := session{ID: "x", Expires: time.Now().Add(time.Hour)}
	for name, value := range map[string]string{
		"shorter":                cookie.Value[:len(cookie.Value)-1],
		"other text":             "e30" + cookie.Value[3:],
		"another letter":         strings.Replace(cookie.Value, "J", "K", 1),
		"no signature":           strings.Split(cookie.Value, ".")[0],
		"empty signature":        strings.Split(cookie.Value, ".")[0] + ".",
		"nothing":                "",
		"another key":            other.server.gate.sign("session", claim),
		"another purpose":        r.server.gate.sign("link", claim),
		"no token where some is": r.server.gate.sign("session", claim),
	} {
		request, _ := http.NewRequest(http.MethodGet, r.server.URL()+"/workers", nil)
		request.AddCookie(&http.Cookie{Name: cookie.Name, Value: value})
		if got := r.do(r.visitor(), request); got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
	if got := r.get("/workers"); got.StatusCode != http.StatusOK {
		t.Errorf("the cookie itself: %s", got.Status)
	}
}

// A session ends with its token, also for a page that is open, and by itself.
func TestSessionsEnd(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	all, err := r.tokens.List()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(a access.Record) bool { return !a.Join })
	request, _ := http.NewRequest(http.MethodGet, r.server.URL()+"/events", nil)
	stream, err := r.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if err := r.tokens.Revoke(all[i].ID); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 4096)
		for {
			if _, err := stream.Body.Read(buffer); err != nil {
				return
			}
		}
	}()
	await.Try(t, ended, "the stream without its token to end")
	if got := r.get("/"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("without its token: %s", got.Status)
	}
	late := session{Expires: time.Now().Add(-time.Second), Token: all[i].Hash}
	if r.server.gate.current(&late) {
		t.Error("a session goes on after its time")
	}
}

// What changes something is refused unless it comes from a form of the session, and its visitor may act.
func TestActions(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	csrf := r.csrf()
	path := "/sweeps/" + theSweep + "/pause"
	mine := r.client
	r.client = r.visitor()
	r.login(false)
	others := r.csrf()
	r.client = r.visitor()
	r.login(true)
	reader, readers := r.client, r.csrf()

	for _, test := range []struct {
		name, csrf string
		client     *http.Client
		header     map[string]string
		status     int
	}{
		{"no csrf", "", mine, nil, http.StatusForbidden},
		{"nonsense", "x!", mine, nil, http.StatusForbidden},
		{"another session's", others, mine, nil, http.StatusForbidden},
		{"a reader", readers, reader, nil, http.StatusForbidden},
		{"another site", csrf, mine, map[string]string{"Sec-Fetch-Site": "cross-site"}, http.StatusForbidden},
		{"another origin", csrf, mine, map[string]string{"Origin": "https://example.org"}, http.StatusForbidden},
		{"another port", csrf, mine, map[string]string{"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:1"}, http.StatusForbidden},
		{"another name", csrf, mine, map[string]string{"Host": "example.org"}, http.StatusMisdirectedRequest},
		{"too much", csrf + strings.Repeat("x", maxFormBytes), mine, nil, http.StatusForbidden},
		{"the form", csrf, mine, map[string]string{"Sec-Fetch-Site": "same-origin"}, http.StatusSeeOther},
	} {
		before := r.did()
		request, _ := http.NewRequest(http.MethodPost, r.server.URL()+path, strings.NewReader(url.Values{"csrf": {test.csrf}}.Encode()))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for key, value := range test.header {
			request.Header.Set(key, value)
			if key == "Host" {
				request.Host = value
			}
		}
		got := r.do(test.client, request)
		if acted := r.did() != before; got.StatusCode != test.status || acted != (test.status == http.StatusSeeOther) {
			t.Errorf("%s: %s, acted %v, want %d", test.name, got.Status, acted, test.status)
		}
	}
	r.client = mine
	for _, action := range []string{"pause", "resume", "retry", "cancel"} { // to ask is to do nothing
		before := r.did()
		if got := r.get("/sweeps/" + theSweep + "/" + action); got.StatusCode != http.StatusOK || r.did() != before {
			t.Errorf("%s: %s", action, got.Status)
		}
	}
	for _, action := range []string{"resume", "retry", "cancel"} {
		if got := r.post("/sweeps/"+theSweep+"/"+action, url.Values{"csrf": {csrf}}); got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s: %s\n%s", action, got.Status, got.body)
		}
	}
	if got := r.post(path, url.Values{"csrf": {csrf}}); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "it has ended") {
		t.Errorf("after the end: %s\n%s", got.Status, got.body)
	}
	if did := r.did(); did != "pause,resume,retry,cancel" {
		t.Error(did)
	}
}

func TestExtend(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	csrf, path := r.csrf(), "/sweeps/"+theSweep+"/extend"
	for _, test := range []struct{ alpha, value, says string }{
		{"", "", "Name at least one new value."},
		{" , ;", "", "Name at least one new value."},
		{"much", "", "Alpha: &#34;much&#34; is not a number."},
		{"-1", "", "alpha"},
		{"", "best", "value"},
	} {
		got := r.post(path, url.Values{"csrf": {csrf}, "alpha": {test.alpha}, "value": {test.value}})
		if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, test.says) || r.did() != "" {
			t.Errorf("%+v: %s, %s\n%s", test, got.Status, r.did(), got.body)
		}
	}
	got := r.post(path, url.Values{"csrf": {csrf}, "alpha": {"0.5, 16"}, "value": {"heuristic"}})
	if got.StatusCode != http.StatusSeeOther {
		t.Errorf("%s\n%s", got.Status, got.body)
	}
	if did := strings.Join(strings.Fields(r.did()), " "); !strings.HasPrefix(did, "extend ") || !strings.Contains(did, "alpha:0.5 alpha:16") || !strings.Contains(did, `value:"heuristic"`) {
		t.Error(did)
	}
}

// A shared link lets others look until it ends, or the token of who made it does. Who has it can neither act nor share.
func TestShare(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	csrf := r.csrf()
	for _, days := range []string{"", "0", "-1", "91", "many"} {
		if got := r.post("/share", url.Values{"csrf": {csrf}, "days": {days}}); got.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q days: %s", days, got.Status)
		}
	}
	got := r.post("/share", url.Values{"csrf": {csrf}, "days": {"7"}})
	_, after, _ := strings.Cut(got.body, `value="`+r.server.URL()+"/enter?key=")
	key, _, _ := strings.Cut(after, `"`)
	if got.StatusCode != http.StatusOK || key == "" {
		t.Fatal(got.Status, got.body)
	}
	for range 2 { // it lets in any number
		r.client = r.visitor()
		if got := r.get("/enter?key=" + key); got.StatusCode != http.StatusOK || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s, %s", got.Status, got.Header.Get("Set-Cookie"))
		}
		if got := r.post("/enter", url.Values{"key": {key}}); got.StatusCode != http.StatusSeeOther {
			t.Errorf("%s\n%s", got.Status, got.body)
		}
		if got := r.get("/"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "read only") {
			t.Error(got.Status)
		}
	}
	for _, path := range []string{"/share", "/sweeps/" + theSweep + "/cancel"} {
		if got := r.post(path, url.Values{"csrf": {r.csrf()}, "days": {"7"}}); got.StatusCode != http.StatusForbidden || r.did() != "" {
			t.Errorf("%s: %s, %s", path, got.Status, r.did())
		}
	}
	all, err := r.tokens.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range all {
		if err := r.tokens.Revoke(record.ID); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.get("/"); got.StatusCode != http.StatusSeeOther {
		t.Errorf("without its token: %s", got.Status)
	}
	if got := r.post("/enter", url.Values{"key": {key}}); got.StatusCode != http.StatusForbidden {
		t.Errorf("without its token: %s", got.Status)
	}
	r.stop()
	if strings.Contains(r.log.String(), key[:40]) {
		t.Error("the log has the link")
	}
}

// A link to one sweep shows that sweep and nothing else.
func TestShareOneSweep(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	csrf := r.csrf()
	if got := r.get("/share?sweep=" + theSweep); !strings.Contains(got.body, "<option selected>"+theSweep+"</option>") {
		t.Error(got.body)
	}
	if got := r.post("/share", url.Values{"csrf": {csrf}, "days": {"7"}, "sweep": {"no-such-sweep"}}); got.StatusCode != http.StatusNotFound {
		t.Errorf("a sweep that is not there: %s", got.Status)
	}
	got := r.post("/share", url.Values{"csrf": {csrf}, "days": {"7"}, "sweep": {theSweep}})
	_, after, _ := strings.Cut(got.body, `value="`+r.server.URL()+"/enter?key=")
	key, _, _ := strings.Cut(after, `"`)
	if got.StatusCode != http.StatusOK || key == "" {
		t.Fatal(got.Status, got.body)
	}
	r.client = r.visitor()
	if got := r.post("/enter", url.Values{"key": {key}}); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("%s\n%s", got.Status, got.body)
	}
	if got := r.get("/"); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/sweeps/"+theSweep {
		t.Errorf("the first page: %s to %s", got.Status, got.Header.Get("Location"))
	}
	got = r.get("/sweeps/" + theSweep)
	if got.StatusCode != http.StatusOK || strings.Contains(got.body, `href="/workers"`) || strings.Contains(got.body, `>Sweeps<`) {
		t.Errorf("%s\n%s", got.Status, got.body)
	}
	_, after, _ = strings.Cut(got.body, `name="csrf" value="`)
	csrf, _, _ = strings.Cut(after, `"`)
	for _, path := range []string{"/workers", "/events", "/workers/events", "/share", "/sweeps/another", "/sweeps/another/events", "/sweeps/another/figures/sensitivity.svg", "/sweeps/another/stimuli/1-1"} {
		if got := r.get(path); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", path, got.Status)
		}
	}
	if got := r.post("/logout", url.Values{"csrf": {csrf}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("log out: %s", got.Status)
	}
}

func TestLinks(t *testing.T) {
	r := newRig(t, nil)
	hour := time.Now().Add(time.Hour)
	for name, key := range map[string]string{
		"nothing":         "",
		"nonsense":        "a.b",
		"ended":           r.server.gate.link(link{Expires: time.Now().Add(-time.Second)}).Get("key"),
		"of no token":     r.server.gate.link(link{Expires: hour}).Get("key"),
		"another key":     newRig(t, nil).server.gate.link(link{Expires: hour}).Get("key"),
		"another purpose": r.server.gate.sign("session", session{Expires: hour}),
	} {
		if got := r.get("/enter?key=" + url.QueryEscape(key)); got.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", name, got.Status)
		}
		if got := r.post("/enter", url.Values{"key": {key}}); got.StatusCode != http.StatusForbidden || got.Header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %s", name, got.Status)
		}
	}
}

// Where there are no tokens, an invitation lets in once, to look and to act.
func TestInvite(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Access = nil })
	if got := r.post("/login", nil); got.StatusCode != http.StatusForbidden || got.Header.Get("Set-Cookie") != "" {
		t.Errorf("without an invitation: %s", got.Status)
	}
	invitation, _ := url.Parse(r.server.Invite())
	key := url.Values{"key": {invitation.Query().Get("key")}}
	for range 2 { // to look at it uses nothing up
		if got := r.get(invitation.RequestURI()); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "data-auto") {
			t.Errorf("%s\n%s", got.Status, got.body)
		}
	}
	if got := r.post("/enter", key); got.StatusCode != http.StatusSeeOther {
		t.Errorf("%s\n%s", got.Status, got.body)
	}
	if got := r.post("/sweeps/"+theSweep+"/pause", url.Values{"csrf": {r.csrf()}}); got.StatusCode != http.StatusSeeOther {
		t.Errorf("%s\n%s", got.Status, got.body)
	}
	r.client = r.visitor()
	if got := r.post("/enter", key); got.StatusCode != http.StatusForbidden {
		t.Errorf("the second time: %s", got.Status)
	}
}

// Where everyone on the machine may call, everyone may look; other sites may not.
func TestOpen(t *testing.T) {
	r := newRig(t, func(cfg *Config) { cfg.Access, cfg.LetIn = nil, true })
	request, _ := http.NewRequest(http.MethodPost, r.server.URL()+"/login", nil)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	if got := r.do(r.client, request); got.StatusCode != http.StatusForbidden {
		t.Errorf("from another site: %s", got.Status)
	}
	if got := r.post("/login", nil); got.StatusCode != http.StatusSeeOther {
		t.Error(got.Status)
	}
	if got := r.get("/"); got.StatusCode != http.StatusOK {
		t.Error(got.Status)
	}
}

func TestLogout(t *testing.T) {
	r := newRig(t, nil)
	r.login(false)
	if r.post("/logout", url.Values{"csrf": {"x"}}); r.get("/").StatusCode != http.StatusOK {
		t.Error("another site can log a visitor out")
	}
	if r.post("/logout", url.Values{"csrf": {r.csrf()}}); r.get("/").StatusCode != http.StatusSeeOther {
		t.Error("the session goes on")
	}
}

func TestLocal(t *testing.T) {
	for path, want := range map[string]string{
		"": "/", "/": "/", "/workers": "/workers", "/sweeps/a?page=2": "/sweeps/a?page=2", "/sweeps/a%2Fb": "/sweeps/a%2Fb",
		"//example.org": "/", "https://example.org/": "/", `/\example.org`: "/", "example.org": "/", "javascript:alert(1)": "/", "/%zz": "/", "///example.org": "/",
	} {
		if got := local(path); got != want {
			t.Errorf("%q goes to %q, want %q", path, got, want)
		}
	}
}

func TestLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "localhost:7411": true, "127.0.0.1:1": true, "[::1]:7411": true, "[::1]": true, "127.9.9.9": true,
		"": false, "example.org": false, "example.org:7411": false, "localhost.example.org": false, "10.0.0.1:7411": false, "0.0.0.0": false,
	} {
		if got := loopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
