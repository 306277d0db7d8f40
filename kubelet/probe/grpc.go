package probe

import (
	"context"
	"net"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	health "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/kogge-dev/kogge/kubelet/plan"
)

// grpc asks by the gRPC health protocol.
func (q question) grpc(ctx context.Context) answer {
	ctx, cancel := context.WithTimeout(ctx, q.timeout())
	defer cancel()
	address := net.JoinHostPort(q.podIP, strconv.Itoa(int(q.spec.GRPC.Port)))
	// The connection is made first, so that a refused one can be told from a service that doesn't answer.
	first, err := q.options.Dial(ctx, "tcp", address)
	if err != nil && ctx.Err() != nil {
		return failed("timeout: failed to connect service %q within %v: %+v", address, q.timeout(), context.DeadlineExceeded)
	}
	if err != nil {
		return failed("error: failed to connect service at %q: %+v", address, err)
	}
	connection, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithUserAgent("kube-probe/"+agentVersion),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if made := first; made != nil {
				first = nil
				return made, nil
			}
			return q.options.Dial(ctx, "tcp", address)
		}))
	if err != nil {
		return failed("error: failed to connect service at %q: %+v", address, err)
	}
	request := &health.HealthCheckRequest{}
	if q.spec.GRPC.Service != nil {
		request.Service = *q.spec.GRPC.Service
	}
	response, err := health.NewHealthClient(connection).Check(ctx, request)
	if closing := connection.Close(); closing != nil && err == nil {
		return answer{err: closing}
	}
	return q.grpcAnswer(response, err)
}

func (q question) grpcAnswer(response *health.HealthCheckResponse, err error) answer {
	switch status.Code(err) {
	case codes.OK:
	case codes.Unimplemented:
		return failed("error: this server does not implement the grpc health protocol (grpc.health.v1.Health): %s", status.Convert(err).Message())
	case codes.DeadlineExceeded:
		return failed("timeout: health rpc did not complete within %v", q.timeout())
	default:
		return failed("error: health rpc probe failed: %+v", err)
	}
	if response.GetStatus() != health.HealthCheckResponse_SERVING {
		return failed("service unhealthy (responded with %q)", response.GetStatus().String())
	}
	return answer{result: plan.Success, output: "service healthy"}
}
