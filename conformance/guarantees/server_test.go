package guarantees

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kogge-dev/kogge/cli"
)

// asServer in the environment makes this test's binary the server.
const asServer = "GUARANTEES_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// server is the API server as a process, which is killed and started again on the same data and address.
type server struct {
	arguments []string
	address   string
	log       *os.File
	process   *exec.Cmd
	client    *http.Client
}

const secret = "writer"

func newServer(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(secret+",admin,admin,system:masters\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().(*net.TCPAddr)
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s := &server{
		address: "https://" + address.String(), log: log,
		arguments: []string{
			"apiserver", "--data-dir", filepath.Join(dir, "data"), "--token-auth-file", tokens,
			"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(address.Port),
		},
		client: &http.Client{Transport: &http.Transport{
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // its certificate is made anew at each start
			MaxConnsPerHost: 0, ForceAttemptHTTP2: true,
		}},
	}
	t.Cleanup(func() {
		s.kill(t)
		s.client.CloseIdleConnections()
		if t.Failed() {
			if b, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("the server's log ends with:\n%s", b[max(0, len(b)-4000):])
			}
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// start returns once the server is ready.
func (s *server) start(ctx context.Context, t *testing.T) {
	t.Helper()
	s.process = exec.Command(os.Args[0], s.arguments...)
	s.process.Env = append(os.Environ(), asServer+"=1")
	s.process.Stderr = s.log
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if code, _, err := s.call(ctx, http.MethodGet, "/readyz", "", nil); err == nil && code == http.StatusOK {
			return
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the server is not ready")
		}
	}
}

// kill ends the server as a crash does.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if s.process == nil {
		return
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = s.process.Wait() // it was killed
	s.process = nil
}

// request sends a request. The caller closes the body.
func (s *server) request(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.address+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Content-Type", contentType)
	return s.client.Do(r)
}

// call sends a request and reads the answer.
func (s *server) call(ctx context.Context, method, path, contentType string, body io.Reader) (int, []byte, error) {
	resp, err := s.request(ctx, method, path, contentType, body)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, b, err
}
