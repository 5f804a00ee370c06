package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"foible/coordinator"
	"foible/domains"
	foiblev1 "foible/proto/foible/v1"
)

// DefaultAddress is where a coordinator listens unless told otherwise.
const DefaultAddress = "127.0.0.1:7410"

// client talks to a coordinator.
type client struct {
	conn    *grpc.ClientConn
	address string
	sweeps  foiblev1.SweepServiceClient
	studies foiblev1.StudyServiceClient
}

func dial(address string, options ...grpc.DialOption) (*client, error) {
	options = append([]grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 20 * time.Second}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(coordinator.MaxMessageBytes), grpc.MaxCallSendMsgSize(coordinator.MaxMessageBytes)),
	}, options...)
	conn, err := grpc.NewClient(address, options...)
	if err != nil {
		return nil, fmt.Errorf("coordinator %s: %w", address, err)
	}
	return &client{
		conn: conn, address: address,
		sweeps:  foiblev1.NewSweepServiceClient(conn),
		studies: foiblev1.NewStudyServiceClient(conn),
	}, nil
}

func (c *client) close() { _ = c.conn.Close() }

// explain makes an error of a call readable.
func (c *client) explain(err error) error {
	s, ok := status.FromError(err)
	if err == nil || !ok {
		return err
	}
	if s.Code().String() == "Unavailable" {
		return fmt.Errorf("no coordinator answers at %s (%s); start one with `foible coordinator`, or name another with --coordinator", c.address, s.Message())
	}
	return errors.New(s.Message())
}

// submit sends a study and makes a sweep of it.
func (c *client) submit(ctx context.Context, s *domains.Study, config *foiblev1.SweepConfig) (*foiblev1.CreateSweepResponse, error) {
	stream, err := c.studies.CreateStudy(ctx)
	if err != nil {
		return nil, c.explain(err)
	}
	for rest := s.Bundle; len(rest) > 0; {
		n := min(len(rest), 256<<10)
		if err := stream.Send(&foiblev1.CreateStudyRequest{Chunk: rest[:n]}); err != nil {
			break // CloseAndRecv says why
		}
		rest = rest[n:]
	}
	created, err := stream.CloseAndRecv()
	if err != nil {
		return nil, c.explain(err)
	}
	if created.GetStudyHash() != s.Hash {
		return nil, fmt.Errorf("study %s arrived as %s", s.Hash, created.GetStudyHash())
	}
	response, err := c.sweeps.CreateSweep(ctx, &foiblev1.CreateSweepRequest{
		StudyHash: s.Hash, StudyName: s.Name, Config: config, Stimuli: s.Shapes(),
	})
	return response, c.explain(err)
}

// study fetches the study of a sweep.
func (c *client) study(ctx context.Context, hash string) (*domains.Study, error) {
	stream, err := c.studies.GetStudy(ctx, &foiblev1.GetStudyRequest{StudyHash: hash})
	if err != nil {
		return nil, c.explain(err)
	}
	var bundle []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return domains.Open(bundle)
		}
		if err != nil {
			return nil, c.explain(err)
		}
		bundle = append(bundle, m.GetChunk()...)
	}
}
