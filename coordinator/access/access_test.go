package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"foible.dev/foible/internal/await"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

func open(t *testing.T, dataDir string) (*Keeper, *Tokens) {
	t.Helper()
	k, err := Open(Config{DataDir: dataDir, Names: Names("127.0.0.1:1"), Limits: DefaultLimits()})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	return k, tokens
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// call asks a Keeper as a call with a token would.
func call(t *testing.T, k *Keeper, method string, shown ...string) error {
	t.Helper()
	headers := metadata.MD{}
	headers.Append(header, shown...)
	_, err := k.ask(t.Context(), &tap.Info{FullMethodName: method, Header: headers})
	return err
}

func show(token Token) string { return scheme + token.secret }

func wantCode(t *testing.T, err error, code codes.Code) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("got %v, want %v", err, code)
	}
}

func TestToken(t *testing.T) {
	token := newToken(User, Pin{1, 2, 3})
	text := token.Reveal()
	if got, err := ParseToken(" " + text + "\n"); err != nil || got != token {
		t.Errorf("%s is read as %s, %v", text, got.Reveal(), err)
	}
	for _, printed := range []string{token.String(), fmt.Sprint(token), fmt.Sprintf("%v %+v %#v %s", token, token, token, &token), fmt.Sprintf("%+v", struct{ T Token }{token})} {
		if strings.Contains(printed, token.secret) {
			t.Errorf("it prints with its secret: %s", printed)
		}
	}
	for _, wrong := range []string{
		"", "foible", token.secret, strings.Replace(text, "user", "root", 1), strings.Replace(text, "foible", "fable", 1),
		text[:len(text)-1], text + "0", strings.Replace(text, token.secret, token.secret[1:], 1), strings.Replace(text, token.secret, "1"+token.secret[1:], 1), text + "-more",
	} {
		if _, err := ParseToken(wrong); err == nil {
			t.Errorf("%q is a token", wrong)
		} else if strings.Contains(err.Error(), token.secret) {
			t.Errorf("the error has the secret: %v", err)
		}
	}
}

// What is in the directory can be read by its owner alone, and what is kept of a created token does not make it known.
func TestDirectory(t *testing.T) {
	dataDir := t.TempDir()
	_, tokens := open(t, dataDir)
	created := must[Token](t)(tokens.Create(User, 0, false))
	err := filepath.WalkDir(Dir(dataDir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), created.secret) {
			t.Errorf("%s has the secret of a created token", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	// A second start changes nothing.
	before := must[Token](t)(tokens.Show(Worker))
	_, tokens = open(t, dataDir)
	if after := must[Token](t)(tokens.Show(Worker)); after != before {
		t.Error("the token is another after a restart")
	}
	// Whoever takes the file away keeps the token that was in it.
	if err := os.Remove(TokenFile(dataDir, Worker)); err != nil {
		t.Fatal(err)
	}
	k, _ := open(t, dataDir)
	wantCode(t, call(t, k, foiblev1.WorkerService_Work_FullMethodName, show(before)), codes.OK)
	if _, err := tokens.Show(Worker); err == nil || !strings.Contains(err.Error(), "foible token rotate worker") {
		t.Errorf("without its file: %v", err)
	}
	before = must[Token](t)(tokens.Show(User))
	// The certificate can be made again; without the key, there is nothing to go on with.
	if err := os.Remove(filepath.Join(Dir(dataDir), authorityFile)); err != nil {
		t.Fatal(err)
	}
	_, tokens = open(t, dataDir)
	if after := must[Token](t)(tokens.Show(User)); after != before {
		t.Error("the token is void after the certificate was made again")
	}
	if err := os.Remove(filepath.Join(Dir(dataDir), keyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Config{DataDir: dataDir}); err == nil || !strings.Contains(err.Error(), "put it back") {
		t.Errorf("without its key: %v", err)
	}
	if _, err := OpenTokens(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("tokens of an empty directory: %v", err)
	}
}

// Every method is open to those named here and to nobody else.
func TestPermits(t *testing.T) {
	k, tokens := open(t, t.TempDir())
	shown := map[string]string{
		"worker": show(must[Token](t)(tokens.Show(Worker))),
		"user":   show(must[Token](t)(tokens.Show(User))),
		"reader": show(must[Token](t)(tokens.Create(User, time.Hour, true))),
	}
	want := map[string]string{
		foiblev1.WorkerService_Work_FullMethodName:                       "worker",
		foiblev1.StudyService_GetStudy_FullMethodName:                    "worker user reader",
		foiblev1.StudyService_CreateStudy_FullMethodName:                 "user",
		foiblev1.SweepService_CreateSweep_FullMethodName:                 "user",
		"/foible.v1.SweepService/Unheard":                                "user",
		"/foible.v1.WorkerService/Unheard":                               "worker",
		"/grpc.health.v1.Health/Watch":                                   "user reader",
		"/grpc.health.v1.Health/Check":                                   "worker user reader nobody",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      "user reader",
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "user reader",
		"/foible.v1.SweepServiceX/GetSweep":                              "", "/foible.v2.SweepService/GetSweep": "", "": "", "/": "", "GetSweep": "",
	}
	for _, service := range []grpc.ServiceDesc{foiblev1.WorkerService_ServiceDesc, foiblev1.StudyService_ServiceDesc, foiblev1.SweepService_ServiceDesc} {
		var names []string
		for _, m := range service.Methods {
			names = append(names, m.MethodName)
		}
		for _, m := range service.Streams {
			names = append(names, m.StreamName)
		}
		for _, name := range names {
			method := "/" + service.ServiceName + "/" + name
			if _, ok := want[method]; !ok { // the rest of SweepService
				want[method] = "user reader"
				if !strings.HasPrefix(name, "Get") && !strings.HasPrefix(name, "List") && !strings.HasPrefix(name, "Watch") && !strings.HasPrefix(name, "Export") {
					want[method] = "user"
				}
			}
		}
	}
	for method, who := range want {
		for name, secret := range shown {
			code := codes.PermissionDenied
			if strings.Contains(who, name) {
				code = codes.OK
			}
			if err := call(t, k, method, secret); status.Code(err) != code {
				t.Errorf("%s of a %s: %v", method, name, err)
			}
		}
		code := codes.Unauthenticated
		if strings.Contains(who, "nobody") {
			code = codes.OK
		}
		if err := call(t, k, method); status.Code(err) != code {
			t.Errorf("%s of nobody: %v", method, err)
		}
	}
	method := foiblev1.SweepService_GetSweep_FullMethodName
	wantCode(t, call(t, k, method, shown["user"], shown["user"]), codes.Unauthenticated)
	wantCode(t, call(t, k, method, scheme), codes.Unauthenticated)
	wantCode(t, call(t, k, method, show(newToken(User, Pin{}))), codes.Unauthenticated)
}

// A Keeper sees what was done to the tokens after it had read them.
func TestChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dataDir := t.TempDir()
		k, tokens := open(t, dataDir)
		get, work := foiblev1.SweepService_GetSweep_FullMethodName, foiblev1.WorkerService_Work_FullMethodName
		first := must[Token](t)(tokens.Show(Worker))
		user := must[Token](t)(tokens.Show(User))
		wantCode(t, call(t, k, work, show(first)), codes.OK)

		second := must[Token](t)(tokens.Rotate(Worker, time.Hour))
		if shown := must[Token](t)(tokens.Show(Worker)); shown != second {
			t.Error("another token is shown than the new one")
		}
		for _, token := range []Token{first, second} {
			wantCode(t, call(t, k, work, show(token)), codes.OK)
		}
		time.Sleep(time.Hour)
		wantCode(t, call(t, k, work, show(first)), codes.Unauthenticated)
		wantCode(t, call(t, k, work, show(second)), codes.OK)
		third := must[Token](t)(tokens.Rotate(Worker, 0))
		wantCode(t, call(t, k, work, show(second)), codes.Unauthenticated)
		wantCode(t, call(t, k, work, show(third)), codes.OK)
		wantCode(t, call(t, k, get, show(user)), codes.OK)

		day := must[Token](t)(tokens.Create(User, 24*time.Hour, false))
		wantCode(t, call(t, k, get, show(day)), codes.OK)
		time.Sleep(24*time.Hour - time.Second)
		wantCode(t, call(t, k, get, show(day)), codes.OK)
		time.Sleep(time.Second)
		if err := call(t, k, get, show(day)); status.Code(err) != codes.Unauthenticated || !strings.Contains(err.Error(), "the token ended on 2000-01-") {
			t.Error(err)
		}

		given := must[Token](t)(tokens.Create(User, 0, false))
		wantCode(t, call(t, k, get, show(given)), codes.OK)
		if err := tokens.Revoke(record(given).ID); err != nil {
			t.Error(err)
		}
		wantCode(t, call(t, k, get, show(given)), codes.Unauthenticated)
		if err := tokens.Revoke("nonsense"); err == nil {
			t.Error("a token that is not there was revoked")
		}

		// What has long ended is forgotten.
		time.Sleep(remembered + time.Hour)
		kept := must[Token](t)(tokens.Create(User, 0, false))
		if all := must[[]Record](t)(tokens.List()); len(all) != 3 {
			t.Errorf("%d tokens are kept: %v", len(all), all)
		}

		wantCode(t, call(t, k, get, show(kept)), codes.OK)

		// A broken file changes nothing, and a mended one does.
		good := must[[]byte](t)(os.ReadFile(tokens.file()))
		if err := os.WriteFile(tokens.file(), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		wantCode(t, call(t, k, get, show(kept)), codes.OK)
		wantCode(t, call(t, k, get, show(given)), codes.Unauthenticated)
		if err := os.WriteFile(tokens.file(), good, 0o600); err != nil {
			t.Fatal(err)
		}
		wantCode(t, call(t, k, get, show(kept)), codes.OK)
	})
}

// Commands that run at once lose nothing of each other's.
func TestChangesAtOnce(t *testing.T) {
	_, tokens := open(t, t.TempDir())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := tokens.Create(User, 0, false); err != nil {
				t.Error(err)
			}
		})
	}
	await.Group(t, &all, "the tokens to be made")
	if got := must[[]Record](t)(tokens.List()); len(got) != 22 {
		t.Errorf("%d tokens, not 22", len(got))
	}
}

// Coordinators that start at once on a directory make one authority and one set of tokens; those that start later change
// nothing, so that it may be read-only.
func TestOpenAtOnce(t *testing.T) {
	dir := t.TempDir()
	keepers := make([]*Keeper, 8)
	var all sync.WaitGroup
	for i := range keepers {
		all.Go(func() {
			var err error
			if keepers[i], err = Open(Config{DataDir: dir, Names: Names("127.0.0.1:1"), Limits: DefaultLimits()}); err != nil {
				t.Error(err)
			}
		})
	}
	await.Group(t, &all, "the directories to be opened")
	if t.Failed() {
		return
	}
	tokens := must[*Tokens](t)(OpenTokens(dir))
	if got := must[[]Record](t)(tokens.List()); len(got) != 2 {
		t.Errorf("%d tokens, not 2", len(got))
	}
	worker := must[Token](t)(tokens.Show(Worker))
	for _, k := range keepers {
		wantCode(t, call(t, k, foiblev1.WorkerService_Work_FullMethodName, show(worker)), codes.OK)
		chain := must[*tls.Certificate](t)(k.tls.GetCertificate(nil))
		ca := must[*x509.Certificate](t)(x509.ParseCertificate(chain.Certificate[1]))
		if pinOf(ca) != worker.Pin {
			t.Error("a coordinator is not that of the token")
		}
	}

	written := func() (all []string) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			all = append(all, fmt.Sprint(path, info.ModTime(), info.Mode()))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := written()
	open(t, dir)
	if after := written(); !slices.Equal(before, after) {
		t.Errorf("changed from %v to %v", before, after)
	}
}

func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := DefaultLimits()
		limits.UserCalls.Token = Rate{PerSecond: 2, Burst: 5}
		dataDir := t.TempDir()
		k := must[*Keeper](t)(Open(Config{DataDir: dataDir, Limits: limits}))
		tokens := must[*Tokens](t)(OpenTokens(dataDir))
		user, worker := must[Token](t)(tokens.Show(User)), must[Token](t)(tokens.Show(Worker))
		allowed := func() (n int) {
			for call(t, k, foiblev1.SweepService_GetSweep_FullMethodName, show(user)) == nil {
				n++
			}
			return n
		}
		if n := allowed(); n != 5 {
			t.Errorf("%d calls at once", n)
		}
		wantCode(t, call(t, k, foiblev1.SweepService_GetSweep_FullMethodName, show(user)), codes.ResourceExhausted)
		wantCode(t, call(t, k, foiblev1.WorkerService_Work_FullMethodName, show(worker)), codes.OK) // is not held back by others
		time.Sleep(time.Second)
		if n := allowed(); n != 2 {
			t.Errorf("%d calls in a second", n)
		}
	})
}

// The certificate is replaced long before it expires; the pin stays.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, tokens := open(t, t.TempDir())
		token := must[Token](t)(tokens.Show(User))
		seen := map[string]bool{}
		for range 3 * 365 {
			certificate, err := k.tls.GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := verify(parsed(t, certificate.Certificate), token.Pin); err != nil {
				t.Fatal(err)
			}
			seen[certificate.Leaf.SerialNumber.String()] = true
			time.Sleep(24 * time.Hour)
		}
		if len(seen) < 12 || len(seen) > 20 {
			t.Errorf("%d certificates in three years", len(seen))
		}
	})
}

func parsed(t *testing.T, chain [][]byte) (all []*x509.Certificate) {
	t.Helper()
	for _, der := range chain {
		all = append(all, must[*x509.Certificate](t)(x509.ParseCertificate(der)))
	}
	return all
}

// Only a certificate that the pinned authority has signed will do, whatever is shown beside it.
func TestVerify(t *testing.T) {
	chain := func() []*x509.Certificate {
		k, _ := open(t, t.TempDir())
		certificate, err := k.tls.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return parsed(t, certificate.Certificate)
	}
	ours, theirs := chain(), chain()
	pin := pinOf(ours[1])
	// An authority that has the name of ours, and signs.
	key := must[*ecdsa.PrivateKey](t)(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	authority := *ours[1]
	authority.PublicKey = &key.PublicKey
	der := must[[]byte](t)(x509.CreateCertificate(rand.Reader, ours[0], &authority, &key.PublicKey, key))
	forged := must[*x509.Certificate](t)(x509.ParseCertificate(der))

	for name, c := range map[string]struct {
		chain []*x509.Certificate
		ok    bool
	}{
		"ours":                              {ours, true},
		"ours, the other way round":         {[]*x509.Certificate{ours[1], ours[0]}, false},
		"without its authority":             {ours[:1], false},
		"theirs":                            {theirs, false},
		"theirs beside our authority":       {[]*x509.Certificate{theirs[0], ours[1]}, false},
		"theirs beside both authorities":    {[]*x509.Certificate{theirs[0], theirs[1], ours[1]}, false},
		"theirs beside ours":                {[]*x509.Certificate{theirs[0], ours[0], ours[1]}, false},
		"forged":                            {[]*x509.Certificate{forged, ours[1]}, false},
		"our authority as its own":          {[]*x509.Certificate{ours[1], ours[1]}, true}, // whose key never leaves the coordinator
		"none":                              {nil, false},
		"ours with another authority after": {[]*x509.Certificate{ours[0], theirs[1], ours[1]}, true},
	} {
		if err := verify(c.chain, pin); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		} else if err != nil && !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v is not ErrForeign", name, err)
		}
	}
}

// A stranger makes room for a newer one, and goes when its time is up; who was admitted stays.
func TestDoor(t *testing.T) {
	limits := Limits{Handshake: time.Second, Strangers: 4, Connections: 3, ConnectionsPerToken: 2}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := newDoor(l, limits)
	defer d.Close()
	connect := func() (*guest, net.Conn) {
		client := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
		t.Cleanup(func() { _ = client.Close() })
		return must[net.Conn](t)(d.Accept()).(*guest), client
	}
	goneWithin := func(client net.Conn, d time.Duration) bool {
		_ = client.SetReadDeadline(time.Now().Add(d))
		_, err := client.Read(make([]byte, 1))
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	gone := func(client net.Conn) bool { return goneWithin(client, await.Patience) }
	here := func(client net.Conn) bool { return !goneWithin(client, 50*time.Millisecond) }
	first, firstClient := connect()
	second, secondClient := connect()
	if err := first.admit("a"); err != nil {
		t.Fatal(err)
	}
	var clients []net.Conn
	for range 4 {
		_, c := connect()
		clients = append(clients, c)
	}
	if !gone(secondClient) || !here(firstClient) || !here(clients[0]) {
		t.Error("the oldest stranger, and it alone, must go")
	}
	if err := second.admit("a"); err != nil { // it is closed already
		t.Error(err)
	}
	for i, c := range clients {
		if !gone(c) {
			t.Errorf("stranger %d is still there", i)
		}
	}
	if !here(firstClient) {
		t.Error("who was admitted has gone")
	}

	another, _ := connect()
	if err := another.admit("a"); err != nil {
		t.Error(err)
	}
	third, _ := connect()
	if err := third.admit("a"); err == nil || strings.Contains(err.Error(), "3") {
		t.Errorf("a third connection of a token: %v", err)
	}
	if err := third.admit("b"); err != nil {
		t.Error(err)
	}
	fourth, _ := connect()
	if err := fourth.admit("c"); err == nil {
		t.Error("a fourth connection is admitted")
	}
	_, _ = first.Close(), first.Close()
	if err := fourth.admit("a"); err != nil {
		t.Errorf("there is no room after one has gone: %v", err)
	}
	for _, g := range []*guest{second, another, third, fourth} {
		_ = g.Close()
	}
	if d.admitted != 0 || len(d.perToken) != 0 || d.strangers.Len() != 0 || len(d.perHost) != 0 {
		t.Errorf("an empty house counts %d, %v, %d, %v", d.admitted, d.perToken, d.strangers.Len(), d.perHost)
	}
}
