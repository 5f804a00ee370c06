package browser_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"foible.dev/foible/worker"

	"google.golang.org/grpc"

	"foible.dev/foible/coordinator/access"
	"foible.dev/foible/domains"
	foiblev1 "foible.dev/foible/proto/foible/v1"
)

// dialAs connects to the coordinator with a token of a kind.
func (c *cluster) dialAs(kind access.Kind) *grpc.ClientConn {
	c.t.Helper()
	client, err := access.NewClient(func() (access.Token, error) {
		return access.ReadToken(access.TokenFile(filepath.Join(c.dir, "foible-data"), kind))
	}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	conn, err := grpc.NewClient(c.address, append(client.Options(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))...)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// store sends a study to a coordinator.
func store(t *testing.T, conn *grpc.ClientConn, study *domains.Study) {
	t.Helper()
	stream, err := foiblev1.NewStudyServiceClient(conn).CreateStudy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = stream.Send(&foiblev1.CreateStudyRequest{Chunk: study.Bundle}) // CloseAndRecv says what is wrong
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
}

// hardly is a worker that cannot compute one stimulus.
type hardly struct {
	worker.Executor
	stimulus string
}

// Execute implements worker.Executor.
func (h hardly) Execute(ctx context.Context, job *foiblev1.Assign) (*foiblev1.JobResult, error) {
	if job.GetInfer().GetStimulus() == h.stimulus {
		return nil, worker.Computation(errors.New("no worker can compute this stimulus"))
	}
	return h.Executor.Execute(ctx, job)
}

// submitFailing makes a sweep of the sample study, and a worker that fails in one stimulus.
func (c *cluster) submitFailing(t *testing.T) (id string) {
	t.Helper()
	study, findings := domains.Load(domains.All[0].Sample)
	if study == nil {
		t.Fatal(findings)
	}
	conn := c.dialAs(access.User)
	store(t, conn, study)
	made, err := foiblev1.NewSweepServiceClient(conn).CreateSweep(t.Context(), &foiblev1.CreateSweepRequest{
		StudyHash: study.Hash, StudyName: study.Name, Stimuli: study.Shapes(),
		Config: &foiblev1.SweepConfig{Models: map[string]*foiblev1.ModelConfig{"boltzmann": {}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	science := worker.NewScience(foiblev1.NewStudyServiceClient(c.dialAs(access.Worker)))
	c.pretend(made.GetSweep().GetVersion(), hardly{science, "1-2"})
	return made.GetSweep().GetSweepId()
}
