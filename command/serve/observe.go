package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"

	"foible.dev/foible/command/cli"
	"foible.dev/foible/command/terminal"
	"foible.dev/foible/worker"
)

// ObserveOptions say how a daemon can be watched.
type ObserveOptions struct {
	Metrics       string // host:port at which Prometheus reads /metrics; "": nowhere
	MetricsPublic bool   // it may be an address at which other machines reach this one
	OTLP          string // URL to which traces are sent; "": that of the environment, if any
}

// MetricsExample is the address for metrics that messages and documents propose. [connect.DefaultWebAddress] is the dashboard's.
const MetricsExample = "127.0.0.1:7412"

// endpointEnv are the environment variables that name an endpoint for traces; the exporter reads them itself.
var endpointEnv = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// observed is what a daemon is watched by.
type observed struct {
	metrics prometheus.Registerer // nil: nobody reads them
	tracing trace.TracerProvider  // nil: there is none
	stop    func()
}

// observe begins what options ask for.
func observe(ctx context.Context, term *terminal.Terminal, service string, o ObserveOptions) (*observed, error) {
	w := &observed{stop: func() {}}
	if o.Metrics != "" {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		stop, err := serveMetrics(term, o, registry)
		if err != nil {
			return nil, err
		}
		w.metrics, w.stop = registry, stop
	}
	provider, err := newTracer(ctx, term, service, o.OTLP)
	if err != nil {
		w.stop()
		return nil, err
	}
	if provider != nil {
		stopMetrics := w.stop
		w.tracing = provider
		w.stop = func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			if err := provider.Shutdown(ctx); err != nil {
				term.Logger.Warn("send the last traces", "error", err)
			}
			stopMetrics()
		}
	}
	return w, nil
}

// flushTimeout is how long a daemon that ends tries to send its last traces.
const flushTimeout = 3 * time.Second

// serveMetrics answers Prometheus until it is stopped.
func serveMetrics(term *terminal.Terminal, o ObserveOptions, registry *prometheus.Registry) (stop func(), err error) {
	host, _, err := net.SplitHostPort(o.Metrics)
	if err != nil {
		return nil, cli.Usagef("--metrics %q: write it as host:port, e.g. %s", o.Metrics, MetricsExample)
	}
	if ip := net.ParseIP(host); !o.MetricsPublic && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cli.Usagef("--metrics %q: who reaches that address can read the metrics, without a token; add --metrics-public if that is meant, or write 127.0.0.1", o.Metrics)
	}
	listener, err := net.Listen("tcp", o.Metrics)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("the address %s is taken; name another with --metrics", o.Metrics)
	}
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	var handler http.Handler = mux
	if !o.MetricsPublic {
		handler = refuseNames(mux)
	}
	server := &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			term.Logger.Error("metrics", "error", err)
		}
	}()
	term.Logger.Info("metrics are served", "url", "http://"+listener.Addr().String()+"/metrics")
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}

// refuseNames answers requests for localhost or an IP address, and no other name: a page of another site may have a name
// that leads to this machine, and a browser would let that page read the answer.
func refuseNames(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host := (&url.URL{Host: r.Host}).Hostname(); host != "localhost" && net.ParseIP(host) == nil {
			http.Error(w, "without --metrics-public, metrics are served to localhost or an IP address, and to no other name", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// traces is where spans go; nil if no endpoint is given.
func newTracer(ctx context.Context, term *terminal.Terminal, service, endpoint string) (*sdktrace.TracerProvider, error) {
	var options []otlptracegrpc.Option
	given := endpoint != ""
	if given {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, cli.Usagef("--otel-endpoint %q: write it as http://host:4317, or https:// with TLS", endpoint)
		}
		options = append(options, otlptracegrpc.WithEndpointURL(endpoint))
	}
	for _, name := range endpointEnv {
		given = given || os.Getenv(name) != ""
	}
	if !given {
		return nil, nil
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("--otel-endpoint: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { term.Logger.Warn("traces", "error", err) }))
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", cli.Version())), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about)), nil
}

// calls are the options of a client whose calls are watched.
func (w *observed) calls() ([]grpc.DialOption, error) {
	var options []grpc.DialOption
	if w.metrics != nil {
		m := grpcprom.NewClientMetrics(grpcprom.WithClientHandlingTimeHistogram())
		if err := w.metrics.Register(m); err != nil {
			return nil, err
		}
		options = append(options, grpc.WithChainUnaryInterceptor(m.UnaryClientInterceptor()), grpc.WithChainStreamInterceptor(m.StreamClientInterceptor()))
	}
	if w.tracing != nil {
		options = append(options, grpc.WithStatsHandler(otelgrpc.NewClientHandler(
			otelgrpc.WithTracerProvider(w.tracing), otelgrpc.WithPropagators(propagation.TraceContext{}))))
	}
	return options, nil
}

// executor is one whose jobs are watched.
func (w *observed) executor(e worker.Executor, slots int) (worker.Executor, error) {
	if w.tracing != nil {
		e = worker.Traced(e, w.tracing)
	}
	if w.metrics != nil {
		return worker.Measured(e, slots, w.metrics)
	}
	return e, nil
}

// observeFlags are those of daemons.
func observeFlags(c *cobra.Command, o *ObserveOptions) {
	c.Flags().StringVar(&o.Metrics, "metrics", "", "`host:port` at which Prometheus reads /metrics, e.g. "+MetricsExample+" (default: nowhere)")
	c.Flags().BoolVar(&o.MetricsPublic, "metrics-public", false, "let --metrics name an address at which other machines reach this one, by any name; there are no\nsecrets in metrics, and no token is asked for")
	c.Flags().StringVar(&o.OTLP, "otel-endpoint", "", "`url`, e.g. http://127.0.0.1:4317, to send traces to by OTLP over gRPC; OTEL_EXPORTER_OTLP_ENDPOINT sets it too\n(default: there are none)")
}
