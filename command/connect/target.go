package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/core/words"
)

// Target says which coordinator to dial, and how it and its caller know each other.
type Target struct {
	Address     string // or several, separated by commas, of coordinators that share their data
	AddressFile string // holds the address, in place of Address; read again whenever the coordinator is dialled
	TokenFile   string // holds the token, or is the coordinator's data directory; "": see token
	TLSCA       string // file of a site's own authorities, or "system"; "": the token says which authority to trust
	Insecure    bool   // without encryption and token
}

// Environment variables that stand for flags; and one for a token, which is no
// flag: those of a process can be seen by everyone on its machine.
const (
	AddressEnv   = "FOIBLE_COORDINATOR"
	TokenFileEnv = "FOIBLE_TOKEN_FILE"
	TLSCAEnv     = "FOIBLE_TLS_CA"
	TokenEnv     = "FOIBLE_TOKEN"
)

// DefaultWebAddress is where the dashboard of a coordinator listens by default.
const DefaultWebAddress = "127.0.0.1:7411"

// CheckAddress checks an address given by a flag: without encryption, it must be of this machine.
func CheckAddress(flag, address string, insecure bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return cli.Usagef("%s %q: write it as host:port, e.g. %s", flag, address, exampleAddress(flag))
	}
	if ip := net.ParseIP(host); !insecure || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return cli.Usagef("%s %q: --insecure is for addresses of one machine, such as %s; leave it out", flag, address, exampleAddress(flag))
}

// exampleAddress is an address that suits a flag.
func exampleAddress(flag string) string {
	if flag == "--web" {
		return DefaultWebAddress
	}
	return DefaultAddress
}

// Addresses are those of the target.
func (t Target) Addresses() []string {
	all := strings.Split(t.Address, ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// Current is the address to dial now.
func (t Target) Current() (string, error) {
	if t.AddressFile == "" {
		return t.Address, nil
	}
	text, err := cli.ReadFile(t.AddressFile, cli.MaxSmallFile)
	if err != nil {
		return "", fmt.Errorf("--coordinator-file %s: %w; a coordinator writes its address there with --address-file", words.Quoted(t.AddressFile), cli.Cause(err))
	}
	address := strings.TrimSpace(string(text))
	if _, _, err := net.SplitHostPort(address); err != nil {
		return "", fmt.Errorf("--coordinator-file %s: %q is no host:port; a coordinator writes its address there with --address-file", words.Quoted(t.AddressFile), address)
	}
	return address, nil
}

// Where says, to people, which address is dialled.
func (t Target) Where() string {
	address, err := t.Current()
	switch {
	case err != nil:
		return "the address that " + words.Quoted(t.AddressFile) + " is to hold"
	case t.AddressFile != "":
		return address + " (" + words.Quoted(t.AddressFile) + ")"
	}
	return address
}

// Flags are those by which a command for a kind of token finds the same coordinator.
func (t Target) Flags(kind access.Kind) string {
	flags := ""
	switch {
	case t.AddressFile != "":
		flags += " --coordinator-file " + words.Quoted(t.AddressFile)
	case t.Address != DefaultAddress:
		flags += " --coordinator " + t.Address
	}
	// A file has a token of one kind, a data directory of both.
	if info, err := os.Stat(t.TokenFile); t.TokenFile != "" && t.TokenFile != os.Getenv(TokenFileEnv) && (kind == access.User || err == nil && info.IsDir()) {
		flags += " --token-file " + words.Quoted(t.TokenFile)
	}
	if t.TLSCA != os.Getenv(TLSCAEnv) {
		flags += " --tls-ca " + words.Quoted(t.TLSCA)
	}
	if t.Insecure {
		flags += " --insecure"
	}
	return flags
}

// Access finds the token and the authority to trust; nil without encryption.
func (t Target) Access(kind access.Kind) (*access.Client, error) {
	switch {
	case t.AddressFile == "":
		for _, address := range t.Addresses() {
			if err := CheckAddress("--coordinator", address, t.Insecure); err != nil {
				return nil, err
			}
		}
	case t.Insecure:
		return nil, cli.Usagef("--insecure is for one machine, --coordinator-file for several; leave one out")
	case t.TLSCA != "":
		return nil, cli.Usagef("--tls-ca goes by the name of an address that stays, --coordinator-file is for one that changes; leave one out")
	}
	if t.Insecure {
		return nil, nil
	}
	if t.TLSCA == "" {
		return access.NewClient(func() (access.Token, error) { return t.Token(kind) }, nil)
	}
	roots, err := access.Roots(t.TLSCA)
	if err != nil {
		return nil, fmt.Errorf("--tls-ca %s: %w; name a file of certificates in PEM, or say `system` for those that this machine trusts", words.Quoted(t.TLSCA), cli.Cause(err))
	}
	return access.NewClient(func() (access.Token, error) { return t.Token(kind) }, roots)
}

// errNoToken says that no token was given.
var errNoToken = errors.New("no token")

// probeTime is how long a coordinator may take to accept a connection.
const probeTime = time.Second

// listens reports whether something accepts connections at the target.
func (t Target) listens() bool {
	address, err := t.Current()
	if err != nil {
		return false
	}
	for _, address := range strings.Split(address, ",") {
		if conn, err := net.DialTimeout("tcp", strings.TrimSpace(address), probeTime); err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}

// absent says that no coordinator answers at the target, and what to do about that.
func (t Target) absent() error {
	if t.AddressFile != "" {
		return fmt.Errorf("no coordinator answers at %s; start it again where it keeps its data", t.Where())
	}
	listen := ""
	if t.Address != DefaultAddress {
		listen = " --listen " + t.Addresses()[0]
	}
	if t.Insecure {
		return fmt.Errorf("no coordinator without encryption answers at %s; leave --insecure out, or start one with `foible coordinator --insecure%s`", t.Address, listen)
	}
	if host, port, err := net.SplitHostPort(t.Addresses()[0]); err == nil && !ofThisMachine(host) {
		return fmt.Errorf("no coordinator answers at %s; see that one runs on %s, as `foible coordinator --listen :%s` does there, or say where it is with --coordinator", t.Address, host, port)
	}
	return fmt.Errorf("no coordinator answers at %s; start one with `foible coordinator%s`, or say where it is with --coordinator", t.Address, listen)
}

// ofThisMachine reports whether a host, a name or an address, is this machine as far as can be seen from here.
func ofThisMachine(host string) bool {
	ip := net.ParseIP(host)
	if name, err := os.Hostname(); host == "localhost" || ip != nil && ip.IsLoopback() || err == nil && strings.EqualFold(host, name) {
		return true
	}
	own, err := net.InterfaceAddrs()
	return err == nil && ip != nil && slices.ContainsFunc(own, func(a net.Addr) bool {
		network, ok := a.(*net.IPNet)
		return ok && network.IP.Equal(ip)
	})
}

// Token reads the token from the file named, from the environment, or from the
// default data directory, in which a coordinator of this machine may work.
func (t Target) Token(kind access.Kind) (access.Token, error) {
	var token access.Token
	var err error
	from := "the token in " + words.Quoted(cmp.Or(t.TokenFile, cli.DefaultData))
	switch {
	case t.TokenFile != "":
		path := t.TokenFile
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = access.TokenFile(path, kind)
		}
		if token, err = access.ReadToken(path); err != nil {
			return token, fmt.Errorf("--token-file %s: %w; name the file that holds the token, or the coordinator's data directory", words.Quoted(path), cli.Cause(err))
		}
	case os.Getenv(TokenEnv) != "":
		from = "the token in " + TokenEnv
		if token, err = access.ParseToken(os.Getenv(TokenEnv)); err != nil {
			return token, fmt.Errorf("%s: %w", TokenEnv, err)
		}
	default:
		token, err = access.ReadToken(access.TokenFile(cli.DefaultData, kind))
		if errors.Is(err, fs.ErrNotExist) {
			return token, fmt.Errorf("%w for the coordinator at %s; where it runs, `foible token show %s` prints one: name a file with that, or the coordinator's data directory, with --token-file", errNoToken, t.Where(), kind)
		}
		if err != nil {
			return token, fmt.Errorf("%s: %w", words.Quoted(access.TokenFile(cli.DefaultData, kind)), cli.Cause(err))
		}
	}
	if token.Kind != kind {
		return token, fmt.Errorf("%s is for a %s, and this is a command for a %s; `foible token show %[3]s` prints the right one where the coordinator runs", from, token.Kind, kind)
	}
	return token, nil
}

// TargetFlags adds the flags that say where a coordinator is, and how to trust it.
func TargetFlags(c *cobra.Command, t *Target) {
	c.Flags().StringVar(&t.Address, "coordinator", cmp.Or(os.Getenv(AddressEnv), DefaultAddress), "`host:port` of the coordinator, or of several that share their data, as in a:7410,b:7410;\n"+AddressEnv+" sets it too")
	c.Flags().StringVar(&t.AddressFile, "coordinator-file", "", "`file` that holds host:port of a coordinator that may move, in place of --coordinator; read again at each attempt to connect")
	c.Flags().StringVar(&t.TokenFile, "token-file", os.Getenv(TokenFileEnv), "`file` that holds the token, or the coordinator's data directory; "+TokenFileEnv+" sets it too\n(default: the token in FOIBLE_TOKEN, or that of "+cli.DefaultData+")")
	c.Flags().StringVar(&t.TLSCA, "tls-ca", os.Getenv(TLSCAEnv), "`file` of authorities to trust, or system, of a site with certificates of its own; "+TLSCAEnv+" sets it\ntoo (default: the authority that the token names)")
	c.Flags().BoolVar(&t.Insecure, "insecure", false, "no encryption and no token, within one machine")
}
