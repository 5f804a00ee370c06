// Package connect connects commands to a coordinator: its address, the token,
// a client that tries again while another coordinator takes over, and errors
// that say what to do. It has the words for the states of a sweep, too. Read
// [Target] and [Client] first.
package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/grpc/status"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/coordinator"
	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/coordinator/engine"
	"foible.dev/foible/coordinator/limits"
	"foible.dev/foible/core/words"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
	"foible.dev/foible/worker"
)

// DefaultAddress is where a coordinator listens by default.
const DefaultAddress = "127.0.0.1:7410"

// Client talks to a coordinator.
type Client struct {
	Conn    *grpc.ClientConn
	Target  Target
	access  *access.Client    // nil without encryption
	warn    func(text string) // takes what is to be known of the coordinator; nil: nobody reads it
	warned  sync.Once
	Sweeps  foiblev1.SweepServiceClient
	Studies foiblev1.StudyServiceClient
}

// Dial makes a client for a user of a coordinator. It does not connect yet.
func Dial(t Target, options ...grpc.DialOption) (*Client, error) {
	return DialAs(access.User, t, options...)
}

// DialWithWarnings makes a client that warns on standard error, such as of a coordinator of another version.
func DialWithWarnings(term *terminal.Terminal, t Target, options ...grpc.DialOption) (*Client, error) {
	c, err := Dial(t, options...)
	if err == nil {
		c.warn = func(text string) { term.Say("%s", text) }
	}
	return c, err
}

// DialAs makes a client with a token of a kind.
func DialAs(kind access.Kind, t Target, options ...grpc.DialOption) (*Client, error) {
	known, err := t.Access(kind)
	if errors.Is(err, errNoToken) && !t.listens() {
		return nil, t.absent()
	}
	if err != nil {
		return nil, err
	}
	security := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	if known != nil {
		security = known.Options()
	}
	target, more := t.resolve(kind)
	if t.AddressFile != "" {
		target = "passthrough:///coordinator"
		more = append(more, grpc.WithContextDialer((&AddressFile{Read: t.Current}).Dial)) // unless options have another
	}
	c, err := NewClient(target, append(slices.Concat(more, security, options),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 20 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}))...)
	if err != nil {
		return nil, err
	}
	c.Target, c.access = t, known
	return c, nil
}

// resolve is how gRPC finds the target: of several coordinators, it takes the first that answers. Workers begin with any,
// so that each coordinator has some.
func (t Target) resolve(kind access.Kind) (target string, options []grpc.DialOption) {
	addresses := t.Addresses()
	if len(addresses) == 1 {
		return addresses[0], nil
	}
	var state resolver.State
	for _, address := range addresses {
		host, _, _ := net.SplitHostPort(address) // it has been checked
		state.Endpoints = append(state.Endpoints, resolver.Endpoint{Addresses: []resolver.Address{{Addr: address, ServerName: host}}})
	}
	if kind == access.Worker {
		rand.Shuffle(len(state.Endpoints), func(i, j int) {
			state.Endpoints[i], state.Endpoints[j] = state.Endpoints[j], state.Endpoints[i]
		})
	}
	builder := manual.NewBuilderWithScheme("coordinators")
	builder.InitialState(state)
	return builder.Scheme() + ":///coordinator", []grpc.DialOption{grpc.WithResolvers(builder), grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, request, response any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return again(ctx, func() error { return call(ctx, method, request, response, conn, options...) })
		})}
}

// Of several coordinators, one that is lost is not missed.
const (
	FailoverTime  = 5 * time.Second // as long as another may take to be found
	FailoverPause = 200 * time.Millisecond
)

// again repeats a call that meets no coordinator, for a while. All calls may be repeated.
func again(ctx context.Context, call func() error) error {
	for began := time.Now(); ; {
		err := call()
		if status.Code(err) != codes.Unavailable || time.Since(began) > FailoverTime {
			return err
		}
		select {
		case <-time.After(FailoverPause):
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// Again repeats the call of a stream if there are several coordinators.
func (c *Client) Again(ctx context.Context, call func() error) error {
	if len(c.Target.Addresses()) == 1 {
		return call()
	}
	return again(ctx, call)
}

// NewClient returns a client of a coordinator at a gRPC target. It connects with the first call.
func NewClient(target string, options ...grpc.DialOption) (*Client, error) {
	c := &Client{Target: Target{Address: target}}
	conn, err := grpc.NewClient(target, append(options, worker.Pauses(),
		grpc.WithChainUnaryInterceptor(c.sayVersion()), grpc.WithChainStreamInterceptor(sayVersionOnStream()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(limits.MaxResponseBytes), grpc.MaxCallSendMsgSize(limits.MaxRequestBytes)),
	)...)
	if err != nil {
		return nil, fmt.Errorf("coordinator %s: %w", target, err)
	}
	c.Conn, c.Sweeps, c.Studies = conn, foiblev1.NewSweepServiceClient(conn), foiblev1.NewStudyServiceClient(conn)
	return c, nil
}

// sayVersion tells the coordinator which version calls, and warns once if the coordinator's is another.
func (c *Client) sayVersion() grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, response any, conn *grpc.ClientConn, call grpc.UnaryInvoker, options ...grpc.CallOption) error {
		var header metadata.MD
		ctx = metadata.AppendToOutgoingContext(ctx, coordinator.VersionHeader, cli.Version())
		err := call(ctx, method, request, response, conn, append(options, grpc.Header(&header))...)
		if theirs := header.Get(coordinator.CoordinatorVersionHeader); len(theirs) > 0 && c.warn != nil {
			c.warned.Do(func() {
				c.warn(fmt.Sprintf("Warning: the coordinator at %s is version %s of Foible, and this is %s; use the same where you can.", c.Target.Where(), theirs[0], cli.Version()))
			})
		}
		return err
	}
}

// sayVersionOnStream tells the coordinator which version opens a stream.
func sayVersionOnStream() grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		return open(metadata.AppendToOutgoingContext(ctx, coordinator.VersionHeader, cli.Version()), desc, conn, method, options...)
	}
}

// Close ends the connection.
func (c *Client) Close() error { return c.Conn.Close() }

// Flags are those by which another command of the same user finds the same coordinator.
func (c *Client) Flags() string { return c.Target.Flags(access.User) }

// Refusal says why what answers is not trusted, and what to do; nil if it is, or if nothing answers.
func (c *Client) Refusal() error {
	if c.access == nil {
		return nil
	}
	err := c.access.Refused()
	if plain := (tls.RecordHeaderError{}); errors.As(err, &plain) {
		return fmt.Errorf("what answers at %s does not speak TLS; if it is a coordinator that was started with --insecure, say --insecure here too", c.Target.Where())
	}
	if err != nil {
		return fmt.Errorf("what answers at %s is not trusted: %w; get the token of that coordinator, or, if its site has certificates of its own, name their authority with --tls-ca", c.Target.Where(), err)
	}
	return nil
}

// unreached says what to do where more is the matter than that no coordinator runs there; "" where it may be just that.
func unreached(said string) string {
	for _, known := range []struct{ said, advice string }{
		{"produced zero addresses", "no machine of that name is known here; see that it is written right"}, // of the name resolver
		{"no such host", "no machine of that name is known here; see that it is written right"},
		{"deadline exceeded", silent},
		{"i/o timeout", silent},
		{"timed out", silent},
		{"no route to host", silent},
		{"network is unreachable", silent},
	} {
		if strings.Contains(said, known.said) {
			return known.advice
		}
	}
	return ""
}

const silent = "nothing comes back; see that this machine reaches that one, and that no firewall keeps the port closed"

// StalledError says that a coordinator cannot do what it was asked to, because its store accepts no writes for now.
type StalledError struct {
	Reason string // why, and when it will
	where  string
}

// Error implements error.
func (e *StalledError) Error() string {
	return fmt.Sprintf("the coordinator at %s cannot store anything now: %s", e.where, e.Reason)
}

// Explain makes an error of a call readable.
func (c *Client) Explain(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	switch s.Code() {
	case codes.Canceled:
		return cli.ErrInterrupted
	case codes.Unavailable:
		if err := c.Refusal(); err != nil {
			return err
		}
		if _, reason, ok := strings.Cut(s.Message(), engine.ErrStalled.Error()+": "); ok {
			return &StalledError{where: c.Target.Where(), Reason: reason}
		}
		if strings.Contains(s.Message(), engine.ErrUnavailable.Error()) {
			return fmt.Errorf("the coordinator at %s does not reach its NATS servers, and keeps trying; start those that do not run, and try again", c.Target.Address)
		}
		if advice := unreached(s.Message()); advice != "" && c.Target.AddressFile == "" {
			return fmt.Errorf("no coordinator answers at %s: %s; or say where it is with --coordinator", c.Target.Address, advice)
		}
		return c.Target.absent()
	case codes.Unimplemented:
		return fmt.Errorf("what answers at %s is no coordinator of this version of Foible; say where it is with --coordinator", c.Target.Where())
	}
	return errors.New(strings.ReplaceAll(s.Message(), "\n", "; "))
}

// Sweep fetches a sweep as it stands.
func (c *Client) Sweep(ctx context.Context, id string) (*foiblev1.Sweep, error) {
	got, err := c.Sweeps.GetSweep(ctx, &foiblev1.GetSweepRequest{SweepId: id})
	switch status.Code(err) {
	case codes.NotFound, codes.InvalidArgument: // never made, or no id that could be made
		return nil, c.noSweep(ctx, id)
	}
	return got.GetSweep(), c.Explain(err)
}

// noSweep says that the coordinator has no sweep of an id, and which one may be meant.
func (c *Client) noSweep(ctx context.Context, id string) error {
	var ids []string
	if all, err := c.Sweeps.ListSweeps(ctx, &foiblev1.ListSweepsRequest{}); err == nil {
		for _, m := range all.GetSweeps() {
			ids = append(ids, m.GetSweepId())
		}
	}
	if near := words.Nearest(id, ids); near != "" {
		return fmt.Errorf("the coordinator has no sweep %q; did you mean %q?", id, near)
	}
	return fmt.Errorf("the coordinator has no sweep %q; `foible list%s` lists those that it has", id, c.Flags())
}

// Submit sends a study and makes a sweep of it.
func (c *Client) Submit(ctx context.Context, s *domains.Study, config *foiblev1.SweepConfig, priority int, verify float64) (*foiblev1.CreateSweepResponse, error) {
	var created *foiblev1.CreateStudyResponse
	err := c.Again(ctx, func() error {
		stream, err := c.Studies.CreateStudy(ctx)
		if err != nil {
			return err
		}
		for rest := s.Bundle; len(rest) > 0; {
			n := min(len(rest), 256<<10)
			if err := stream.Send(&foiblev1.CreateStudyRequest{Chunk: rest[:n]}); err != nil {
				break // CloseAndRecv says why
			}
			rest = rest[n:]
		}
		created, err = stream.CloseAndRecv()
		return err
	})
	if err != nil {
		return nil, c.Explain(err)
	}
	if created.GetStudyHash() != s.Hash {
		return nil, fmt.Errorf("study %s arrived as %s", s.Hash, created.GetStudyHash())
	}
	response, err := c.Sweeps.CreateSweep(ctx, &foiblev1.CreateSweepRequest{
		StudyHash: s.Hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes(), Priority: int32(priority), Verify: verify,
	})
	return response, c.Explain(err)
}

// Each calls back for every message of a stream, until that ends.
func Each[M any](stream grpc.ServerStreamingClient[M], do func(*M)) error {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		do(m)
	}
}

// Study fetches the study of a sweep.
func (c *Client) Study(ctx context.Context, hash string) (*domains.Study, error) {
	var bundle []byte
	err := c.Again(ctx, func() error {
		bundle = nil
		stream, err := c.Studies.GetStudy(ctx, &foiblev1.GetStudyRequest{StudyHash: hash})
		if err != nil {
			return err
		}
		return Each(stream, func(m *foiblev1.GetStudyResponse) { bundle = append(bundle, m.GetChunk()...) })
	})
	if err != nil {
		return nil, c.Explain(err)
	}
	return domains.Open(bundle)
}

// ExplainSweep makes an error of a call about a sweep readable.
func (c *Client) ExplainSweep(ctx context.Context, id string, err error) error {
	if status.Code(err) == codes.NotFound {
		return c.noSweep(ctx, id)
	}
	return c.Explain(err)
}

// RetryAdvice is the command that tries again what failed of a sweep.
func (c *Client) RetryAdvice(id string) string {
	return fmt.Sprintf("`foible retry%s %s`", c.Flags(), id)
}
