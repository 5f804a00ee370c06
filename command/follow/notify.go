package follow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/connect"
	"foible.dev/foible/command/terminal"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// NotifyFlag adds --notify.
func NotifyFlag(c *cobra.Command, to *Notify) {
	c.Flags().StringVar((*string)(to), "notify", "", "`command` to run when the sweep has ended, with what `foible status --json` prints on its standard input,\nand FOIBLE_SWEEP and FOIBLE_STATE set; or an http(s) URL to post that to")
}

// Notify says who hears of the end of a sweep: an http or https URL, to which the sweep is posted as JSON, or else a
// command of the shell, which has it on standard input. "": nobody.
type Notify string

// notifyTimeout is how long who is notified may take.
const notifyTimeout = time.Minute

// Check says what is wrong with a URL.
func (n Notify) Check() error {
	if !n.isURL() {
		return nil
	}
	if u, err := url.Parse(string(n)); err != nil || u.Host == "" {
		return cli.Usagef("--notify %q: write a URL as https://host/path", string(n))
	}
	return nil
}

func (n Notify) isURL() bool {
	return strings.HasPrefix(string(n), "http://") || strings.HasPrefix(string(n), "https://")
}

// post sends JSON to a URL.
func (n Notify) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, string(n), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "foible/"+cli.Version())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // so that the connection ends in good order
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answers %s", request.URL.Redacted(), response.Status)
	}
	return nil
}

// NotifyEnd tells who is to be told that a sweep has ended. That it fails is warned of, and changes nothing.
func NotifyEnd(ctx context.Context, term *terminal.Terminal, n Notify, c *connect.Client, m *foiblev1.Sweep) {
	if n == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if err := tell(ctx, term, n, c, m); err != nil {
		term.Say("Warning: --notify: %v", err)
	}
}

func tell(ctx context.Context, term *terminal.Terminal, n Notify, c *connect.Client, m *foiblev1.Sweep) error {
	s, err := StatusOf(ctx, c, m)
	if err != nil {
		return err
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if n.isURL() {
		return n.post(ctx, body)
	}
	return runNotified(ctx, term, string(n), s, body)
}

// run runs a command with the sweep on its standard input. What it prints goes where messages go.
func runNotified(ctx context.Context, term *terminal.Terminal, command string, s SweepJSON, body []byte) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Env = append(os.Environ(), "FOIBLE_SWEEP="+s.Sweep, "FOIBLE_STATE="+s.State)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(body), terminal.Underlying(term.Err), terminal.Underlying(term.Err)
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("`%s`: %w", command, err)
	}
	return nil
}
