package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// step is a line that a user types, and what its output must match.
type step struct {
	line, want string
}

// walkthrough is what the README shows, line by line, and more of what people do with kubectl.
var walkthrough = []step{
	{`kogge create cluster --name test-commands --nodes 2 --wait 120s --registries=false`, `is up after`},
	{`kogge create cluster --name test-commands; echo code $?`, `(?s)exists already.+code 1`},
	{`kogge create cluster --name test-commands --reuse --wait 60s`, `is up after`},
	{`kogge get clusters`, `(?m)^test-commands$`},
	{`kogge get nodes --name test-commands`, `(?m)^test-commands-2$`},
	{`kogge get kubeconfig --name test-commands --internal`, `server: https://172\.31\.0\.1:6443`},
	{`kubectl config current-context`, `^kogge-test-commands`},
	{`kubectl version`, `Server Version: v1\.37\.2\+kogge`},
	{`kubectl get nodes -o wide`, `(?s)test-commands-1 +Ready.+containerd://.+test-commands-2 +Ready`},
	{`kubectl apply -f manifests/examples/nginx.yaml`, `(?s)deployment.apps/nginx created.*service/nginx created`},
	{`kubectl rollout status deployment/nginx --timeout=60s`, `successfully rolled out`},
	{`kubectl get pods -o wide`, `(?s)(nginx-\S+ +1/1 +Running +0 .+10\.244\.\d+\.\d+ +test-commands-\d.*){3}`},
	{`kubectl get pods -o jsonpath='{.items[*].spec.nodeName}'`, `(?s)test-commands-1.*test-commands-2|test-commands-2.*test-commands-1`},
	{`kubectl describe deployment nginx`, `(?s)3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable.+ScalingReplicaSet`},
	{`kubectl describe $(kubectl get pods -l app=nginx -o name | head -n 1)`, `(?s)Ready +True.+Scheduled.+Successfully assigned default/nginx-.+Started`},
	{`kubectl describe node test-commands-1`, `(?s)Ready +True.+KubeletReady.+PodCIDR: +10\.244\.\d+\.0/24`},
	{`kubectl exec deploy/nginx -- hostname`, `^nginx-`},
	{`echo echo from stdin | kubectl exec -i deploy/nginx -- sh`, `^from stdin`},
	{`script -qec 'kubectl exec -it deploy/nginx -- sh -c "test -t 0 && stty size && echo a terminal"' /dev/null`, `a terminal`},
	{`kubectl exec deploy/nginx -- sh -c 'exit 3'; echo code $?`, `code 3`},
	{`kubectl exec deploy/nginx -- wget -qO- http://$(kubectl get service nginx -o jsonpath='{.spec.clusterIP}')/`, `Welcome to nginx`},
	{`kubectl logs deploy/nginx --tail=50`, `GET / HTTP/1\.1`},
	{`kubectl logs -l app=nginx --prefix --timestamps`, `\[pod/nginx-\S+/nginx\] \d{4}-`},
	{`kubectl port-forward service/nginx 0:80 > forward & pid=$!
	  for i in $(seq 100); do port=$(sed -n 's/.*127.0.0.1:\([0-9]*\) .*/\1/p' forward); [ -n "$port" ] && break; sleep 0.1; done
	  curl -s --max-time 5 http://127.0.0.1:$port/; kill $pid; wait $pid`, `Welcome to nginx`},
	{`pod=$(kubectl get pods -l app=nginx -o jsonpath='{.items[0].metadata.name}')
	  head -c 300000 /dev/urandom > sent
	  kubectl cp sent $pod:/tmp/file && kubectl cp $pod:/tmp/file received && cmp sent received && echo equal`, `equal`},
	{`timeout 2 kubectl get pods -w; true`, `nginx-`},
	{`kubectl get events`, `(?s)Scheduled.+pod/nginx-`},
	{`kubectl scale deployment/nginx --replicas=5`, `scaled`},
	{`kubectl rollout status deployment/nginx --timeout=60s`, `successfully rolled out`},
	{`kubectl get deployment nginx`, `5/5`},
	{`kubectl set image deployment/nginx nginx=nginx:latest`, `image updated`},
	{`kubectl rollout status deployment/nginx --timeout=120s`, `successfully rolled out`},
	{`kubectl rollout history deployment/nginx`, `(?m)^2 `},
	{`kubectl rollout undo deployment/nginx`, `rolled back`},
	{`kubectl rollout status deployment/nginx --timeout=120s`, `successfully rolled out`},
	{`kubectl get deployment nginx -o jsonpath='{.spec.template.spec.containers[0].image}'`, `nginx:1\.27`},
	{`KUBE_EDITOR='sed -i s/replicas:.5/replicas:\ 2/' kubectl edit deployment nginx`, `edited`},
	{`kubectl rollout status deployment/nginx --timeout=60s`, `successfully rolled out`},
	{`kubectl label deployment nginx tier=front && kubectl get deployment -l tier=front -o name`, `(?m)^deployment.apps/nginx$`},
	{`kubectl annotate deployment nginx note=hello`, `annotated`},
	{`kubectl patch service nginx -p '{"spec":{"type":"NodePort"}}'`, `patched`},
	{`kubectl run once --image=busybox --restart=Never -- sh -c 'echo said $((6*7))'`, `created`},
	{`kubectl wait pod/once --for=jsonpath='{.status.phase}'=Succeeded --timeout=60s`, `condition met`},
	{`kubectl logs once`, `^said 42`},
	{`kubectl run asked --rm -i --image=busybox --restart=Never -- sh -c 'echo attached; cat' < /dev/null`, `attached`},
	{`kubectl create configmap settings --from-literal=key=value -o yaml`, `key: value`},
	{`kubectl explain deployment.spec.replicas`, `Number of desired pods`},
	{`kubectl api-resources`, `deployments +deploy +apps/v1`},
	{`kubectl delete pod once`, `deleted`},
	{`kubectl delete -f manifests/examples/nginx.yaml`, `(?s)"nginx" deleted.*"nginx" deleted`},
	{`kubectl wait pod -l app=nginx --for=delete --timeout=60s; kubectl get pods -l app=nginx`, `No resources found`},
	{`kogge load image-archive bin/images/busybox.tar --name test-commands; echo code $?`, `code 0`},
	{`kogge export kubeconfig --name test-commands --kubeconfig exported && kubectl --kubeconfig exported get namespaces`, `kube-system +Active`},
	{`kogge delete cluster --name test-commands`, `Deleted cluster`},
	{`kogge delete cluster --name test-commands`, `There is no cluster`},
	{`ls kubeconfig home; echo end`, `(?s)kubeconfig': No such file.+home': No such file.+end`},
}

// Not parallel: it wants the machine for itself.
func TestWalkthrough(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("clusters of containers need root: run the tests as root")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "kogge")); err != nil {
		t.Fatalf("%v: run `make bin build images` first, as `make test` does", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"manifests", "bin"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	shell := shell{dir: dir, environment: append(os.Environ(),
		"PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"),
		"KOGGE_HOME="+filepath.Join(dir, "home"),
		"KUBECONFIG="+filepath.Join(dir, "kubeconfig"),
		"HOME="+dir,
	)}
	t.Cleanup(func() {
		if output, err := shell.run(context.WithoutCancel(t.Context()), "kogge delete cluster --name test-commands"); err != nil {
			t.Errorf("%v\n%s", err, output)
		}
	})
	for _, step := range walkthrough {
		began := time.Now()
		output, err := shell.run(t.Context(), step.line)
		if !regexp.MustCompile(step.want).Match(output) {
			t.Fatalf("%s\n%s\n%v; want a match of %q", step.line, output, err, step.want)
		}
		t.Logf("%-6s %s", time.Since(began).Round(10*time.Millisecond), step.line)
	}
}

type shell struct {
	dir         string
	environment []string
}

// run has bash run one line, for two minutes at most, and returns all that was printed.
func (s shell) run(ctx context.Context, line string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-c", line)
	command.Dir, command.Env = s.dir, s.environment
	// What a killed line leaves in the background must not hold the test.
	command.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	return output.Bytes(), err
}
