package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"sync"
	"time"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/web/views"
)

// Lives of what lets a visitor in.
const (
	sessionLife  = 7 * 24 * time.Hour
	inviteLife   = 24 * time.Hour
	maxShareLife = 90 * 24 * time.Hour
)

// gate knows visitors by what it has signed: sessions, which are cookies, and links. Nothing of them is kept while they
// are good, so that they hold over a restart, and for all coordinators of one authority. They end with the token that
// they rest on. That a session was ended by its visitor is kept in memory: this dashboard knows it until it restarts.
type gate struct {
	keeper *access.Keeper // nil: there are no tokens
	open   bool
	secure bool // cookies are sent only over encryption
	key    []byte
	cookie string // its name; cookies are shared by all ports of a machine
	// refusals of tokens and links, by the address that they came from
	refusals *access.RateByAddress

	mu    sync.Mutex           // guards spent
	spent map[string]time.Time // ids of links that have let in once, and of sessions that were ended, until they end by themselves
}

func newGate(keeper *access.Keeper, open, secure bool, refusals access.Rate) (*gate, error) {
	g := &gate{keeper: keeper, open: open && keeper == nil, secure: secure, spent: map[string]time.Time{}, refusals: access.NewRateByAddress(refusals)}
	if keeper == nil {
		g.key = make([]byte, sha256.Size)
		_, _ = rand.Read(g.key) // it never fails
	} else {
		var err error
		if g.key, err = keeper.Key("dashboard"); err != nil {
			return nil, err
		}
	}
	g.cookie = "foible-" + hex.EncodeToString(g.mac("cookie", nil)[:4])
	if secure {
		g.cookie = "__Host-" + g.cookie
	}
	return g, nil
}

// mac signs a text for one purpose.
func (g *gate) mac(purpose string, text []byte) []byte {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(purpose))
	mac.Write([]byte{0})
	mac.Write(text)
	return mac.Sum(nil)
}

var encoding = base64.RawURLEncoding

// sign makes a text of a value that verify reads again.
func (g *gate) sign(purpose string, value any) string {
	text, _ := json.Marshal(value) // of plain fields: it never fails
	return encoding.EncodeToString(text) + "." + encoding.EncodeToString(g.mac(purpose, text))
}

// verify reads what sign has made for the same purpose. How long it takes does not depend on the signature.
func (g *gate) verify(purpose, signed string, value any) bool {
	for i := range signed {
		if signed[i] != '.' {
			continue
		}
		text, err := encoding.DecodeString(signed[:i])
		given, err2 := encoding.DecodeString(signed[i+1:])
		return err == nil && err2 == nil && hmac.Equal(given, g.mac(purpose, text)) && json.Unmarshal(text, value) == nil
	}
	return false
}

// session is what a cookie says.
type session struct {
	ID       string    `json:"id"`
	Token    string    `json:"token,omitempty"` // hash of the token that it rests on; "" where there are none
	ReadOnly bool      `json:"read_only,omitempty"`
	Sweep    string    `json:"sweep,omitempty"` // the only one that may be looked at; "": all
	Expires  time.Time `json:"expires"`
}

// link is what a link says.
type link struct {
	ID       string    `json:"id"`
	Token    string    `json:"token,omitempty"`
	ReadOnly bool      `json:"read_only,omitempty"`
	Sweep    string    `json:"sweep,omitempty"` // the only one that may be looked at; "": all
	Once     bool      `json:"once,omitempty"`
	Expires  time.Time `json:"expires"`
}

// visitor is who has been let in.
type visitor struct {
	session
	gate *gate
}

// CSRF is what a form of the session has and one of another site has not.
func (v *visitor) CSRF() string { return encoding.EncodeToString(v.gate.mac("csrf", []byte(v.ID))) }

// meant says whether a form is of the session.
func (v *visitor) meant(csrf string) bool {
	given, err := encoding.DecodeString(csrf)
	return err == nil && hmac.Equal(given, v.gate.mac("csrf", []byte(v.ID)))
}

// Home is the first page that a visitor may look at.
func (v *visitor) Home() string {
	if v.Sweep != "" {
		return views.SweepPath(v.Sweep)
	}
	return "/"
}

// visitor is who a request is of; nil if it is nobody who may look.
func (g *gate) visitor(r *http.Request) *visitor {
	c, err := r.Cookie(g.cookie)
	if err != nil {
		return nil
	}
	v := &visitor{gate: g}
	if !g.verify("session", c.Value, &v.session) || !g.current(&v.session) {
		return nil
	}
	return v
}

// current says whether a session has not ended, nor the token that it rests on. It reports whether the session may only read by now.
func (g *gate) current(s *session) bool {
	if !time.Now().Before(s.Expires) || g.wasSpent(s.ID) {
		return false
	}
	if g.keeper == nil {
		return s.Token == ""
	}
	record, ok := g.keeper.Current(s.Token)
	s.ReadOnly = s.ReadOnly || ok && record.ReadOnly
	return ok
}

// begin gives a visitor a session.
func (g *gate) begin(w http.ResponseWriter, s session) {
	s.ID = rand.Text()
	http.SetCookie(w, &http.Cookie{
		Name: g.cookie, Value: g.sign("session", s), Path: "/", Expires: s.Expires,
		HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteStrictMode,
	})
}

// end ends a visitor's session, here and in the browser.
func (g *gate) end(w http.ResponseWriter, v *visitor) {
	g.spend(v.ID, v.Expires)
	http.SetCookie(w, &http.Cookie{Name: g.cookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: g.secure, SameSite: http.SameSiteStrictMode})
}

// link is the query of a link.
func (g *gate) link(l link) url.Values {
	l.ID = rand.Text()
	return url.Values{"key": {g.sign("link", l)}}
}

// read says what a link lets in to; false if it is not one, or has ended.
func (g *gate) read(key string) (l link, ok bool) {
	if !g.verify("link", key, &l) || !time.Now().Before(l.Expires) || l.Once && g.wasSpent(l.ID) {
		return l, false
	}
	return l, g.current(&session{Token: l.Token, Expires: l.Expires})
}

// use takes a link, which is then of no more use if it lets in once.
func (g *gate) use(l link) bool { return !l.Once || g.spend(l.ID, l.Expires) }

func (g *gate) wasSpent(id string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, spent := g.spent[id]
	return spent
}

// maxSpent bounds what is kept of links and sessions that are of no more use.
const maxSpent = 100_000

// spend makes an id of no more use until its link or session has ended; false if it is already.
func (g *gate) spend(id string, until time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, spent := g.spent[id]; spent {
		return false
	}
	if len(g.spent) >= maxSpent {
		first := ""
		for other, end := range g.spent {
			if time.Now().After(end) {
				delete(g.spent, other)
			} else if first == "" || end.Before(g.spent[first]) {
				first = other
			}
		}
		if len(g.spent) >= maxSpent {
			delete(g.spent, first)
		}
	}
	g.spent[id] = until
	return true
}
