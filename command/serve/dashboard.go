package serve

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/input"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/web"
	"foible.dev/foible/core/figure"
	"foible.dev/foible/core/score"
	"foible.dev/foible/core/sweep"
	"foible.dev/foible/domains"
)

// Addresses of dashboards.
const (
	AnyWebAddress = "127.0.0.1:0" // of a fit, by default
	noWeb         = "off"
)

// dashboard makes the dashboard of a coordinator; nil if there is to be none, or nobody asked for it and its address is
// taken, perhaps by another coordinator's.
func newDashboard(term *terminal.Terminal, o *CoordinatorOptions, keeper *access.Keeper) (*web.Server, error) {
	if o.Web == "" || o.Web == noWeb {
		return nil, nil
	}
	listener, err := net.Listen("tcp", o.Web)
	switch {
	case err != nil && !o.WebAsked:
		term.Logger.Warn("no dashboard; name another address with --web", "address", o.Web, "error", err)
		return nil, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the address %s is taken, perhaps by another coordinator's dashboard; name another with --web, or `--web %s`", o.Web, noWeb)
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w; name another address with --web", o.Web, err)
	}
	plain := connect.CheckAddress("", o.Web, true) == nil
	server, err := web.New(web.Config{Listener: listener, Plain: plain, Access: keeper, LetIn: keeper == nil, Open: openForWeb, Limits: o.Limits.Web, Logger: term.Logger})
	if err != nil {
		_ = listener.Close()
	}
	return server, err
}

// Invite makes the dashboard of a fit, and says how to open it; nil if there is to be none.
func Invite(term *terminal.Terminal, address string) (*web.Server, error) {
	if address == "" || address == noWeb {
		return nil, nil
	}
	if connect.CheckAddress("--web", address, true) != nil {
		return nil, cli.Usagef("--web=%s: it must be an address of this machine, such as %s", address, connect.DefaultWebAddress)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; leave the address out, and a free one is taken", address, err)
	}
	server, err := web.New(web.Config{Listener: listener, Plain: true, Open: openForWeb, Limits: web.DefaultLimits(), Logger: term.Logger})
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	term.Say("Watch it in a browser, with a link that lets in once:\n  %s", server.Invite())
	return server, nil
}

// openForWeb opens a study's bundle for a dashboard.
func openForWeb(bundle []byte) (*web.Study, error) {
	s, err := domains.Open(bundle)
	if err != nil {
		return nil, err
	}
	tooFew := func(b sweep.Bootstrap) []score.Few { return score.TooFew(s.Study, b) }
	return &web.Study{Title: input.Title(s), TooFew: tooFew, Story: func(stimulus string) (figure.Story, error) {
		st, ok := s.Stimulus(stimulus)
		if !ok {
			return figure.Story{}, fmt.Errorf("the study has no stimulus %q", stimulus)
		}
		steps := make([]int, len(st.Plan)+1)
		for k := range steps {
			steps[k] = k
		}
		return input.Story(s, st, steps)
	}}, nil
}
