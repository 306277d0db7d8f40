package firstminutes_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// promise is a line of README as it stands there, without its comment, and what it has to show.
type promise struct {
	line, after string
	check       check
}

const rolledOut = "kubectl rollout status deployment/nginx --timeout=100s"

// promises are all lines of README's first five minutes, in their order.
var promises = []promise{
	{"export PATH=$PWD/bin:$PATH", "command -v kogge kubectl", shows(`(?m)/bin/kogge$`, `(?m)/bin/kubectl$`)},
	{"kubectl get nodes -o wide", "", shows(`(?m)^minutes-\d+-1 +Ready .+ containerd://`, `(?m)^minutes-\d+-2 +Ready .+ containerd://`)},
	{"kubectl apply -f manifests/examples/nginx.yaml", "", shows(`deployment.apps/nginx created`, `service/nginx created`)},
	{"kubectl rollout status deployment/nginx", "", shows(`successfully rolled out`)},
	{"kubectl get pods -o wide", "", threeOnBothNodes},
	{"kubectl logs deployment/nginx", "", shows(`nginx/\d`, `kube-probe/1\.37`)},
	{"kubectl exec deployment/nginx -- cat /etc/hostname", "", shows(`(?m)^nginx-[a-z0-9]+-[a-z0-9]{5}$`)},
	{
		"kubectl port-forward service/nginx 8080:80 &",
		`until curl -s --max-time 5 127.0.0.1:8080; do kill -0 $! || break; sleep 0.1; done; kill $!`,
		shows(`Forwarding from 127.0.0.1:8080 -> 80`, `Welcome to nginx`),
	},
	{"kubectl scale deployment nginx --replicas=5", rolledOut + "; kubectl get deployment nginx", shows(`nginx scaled`, `nginx +5/5 +5 +5`)},
	{"kubectl set image deployment/nginx nginx=nginx:latest", rolledOut + "; " + images, all(shows(`image updated`, `successfully rolled out`), imagesAre("nginx:latest"))},
	{"kubectl rollout undo deployment/nginx", rolledOut + "; " + images, all(shows(`rolled back`, `successfully rolled out`), imagesAre("nginx:1.27"))},
	{"kubectl describe deployment nginx", "", shows(`5 desired \| 5 updated \| 5 total \| 5 available \| 0 unavailable`, `Available +True +MinimumReplicasAvailable`,
		`deployment.kubernetes.io/revision: 3`, `Normal +ScalingReplicaSet .+ deployment-controller +Scaled up replica set nginx-`)},
	{
		"kubectl delete -f manifests/examples/nginx.yaml", "kubectl wait pod -l app=nginx --for=delete --timeout=60s; kubectl get all -l app=nginx",
		shows(`"nginx" deleted`, `No resources found`),
	},
	{"make down", "", shows(`Deleted cluster "minutes-\d+"`)},
}

// images shows what each pod of the example runs that is not on its way out.
const images = `kubectl get pods -l app=nginx -o jsonpath='{range .items[*]}image={.metadata.deletionTimestamp}{.spec.containers[0].image}{"\n"}{end}'`

// imagesAre has all pods run that image.
func imagesAre(want string) check {
	return func(output string) error {
		found := 0
		for _, image := range regexp.MustCompile(`(?m)^image=(.*)$`).FindAllStringSubmatch(output, -1) {
			switch {
			case image[1] == want:
				found++
			case !regexp.MustCompile(`^\d{4}-`).MatchString(image[1]):
				return fmt.Errorf("a pod runs %s, not %s", image[1], want)
			}
		}
		if found != 5 {
			return fmt.Errorf("%d pods run %s, want 5", found, want)
		}
		return nil
	}
}

// threeOnBothNodes has three pods run, on both nodes, each with an address of its own.
func threeOnBothNodes(output string) error {
	nodes, addresses := map[string]bool{}, map[string]bool{}
	for _, pod := range regexp.MustCompile(`(?m)^nginx-\S+ +1/1 +Running +0 +\S+ +(10\.244\.\d+\.\d+) +(\S+) `).FindAllStringSubmatch(output, -1) {
		addresses[pod[1]], nodes[pod[2]] = true, true
	}
	if len(addresses) != 3 || len(nodes) != 2 {
		return fmt.Errorf("%d addresses on %d nodes, want 3 on 2", len(addresses), len(nodes))
	}
	return nil
}

// readmeLines are the lines of README's first five minutes without their comments.
func readmeLines(t *testing.T, checkout string) []string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(checkout, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "\n## The first five minutes\n\n```\n")
	block, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed {
		t.Fatal("README.md has no block of lines under \"The first five minutes\"")
	}
	var lines []string
	for line := range strings.SplitSeq(block, "\n") {
		command, _, _ := strings.Cut(line, " # ")
		lines = append(lines, strings.TrimSpace(command))
	}
	return lines
}

// readmeSteps joins README's lines and what is expected of them.
func readmeSteps(t *testing.T, checkout string) []step {
	t.Helper()
	lines := readmeLines(t, checkout)
	port := freePort(t)
	var steps []step
	for i, line := range lines {
		if i >= len(promises) || promises[i].line != line {
			t.Fatalf("README's line %d is %q: promises in readme_test.go has to say what it shows", i+1, line)
		}
		steps = append(steps, withPort(step(promises[i]), port))
	}
	if len(promises) > len(lines) {
		t.Fatalf("README has no line %q any more", promises[len(lines)].line)
	}
	return steps
}

// withPort has a step use another port than README's, which somebody else on this machine may have.
func withPort(s step, port string) step {
	return step{
		line: strings.ReplaceAll(s.line, "8080", port), after: strings.ReplaceAll(s.after, "8080", port),
		check: func(output string) error { return s.check(strings.ReplaceAll(output, port, "8080")) },
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
