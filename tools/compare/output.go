package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// views are what a user looks at after applying the example.
var views = [][]string{
	{"get", "nodes"},
	{"get", "nodes", "-o", "wide"},
	{"get", "deployments,replicasets,services"},
	{"get", "deployments,replicasets,services", "-o", "wide"},
	{"get", "pods"},
	{"get", "endpointslices", "-l", "kubernetes.io/service-name=nginx"},
	{"get", "endpoints", "nginx"},
	{"get", "all"},
	{"describe", "deployment", "nginx"},
	{"describe", "replicasets"},
	{"describe", "service", "nginx"},
	{"describe", "pods"},
	{"get", "deployment", "nginx", "-o", "yaml"},
	{"get", "replicasets", "-o", "yaml"},
	{"get", "service", "nginx", "-o", "yaml"},
	{"get", "pods", "-o", "yaml"},
	{"get", "endpointslices", "-l", "kubernetes.io/service-name=nginx", "-o", "yaml"},
	{"get", "serviceaccounts,configmaps", "-o", "name"},
	{"explain", "deployment.spec.strategy"},
	{"explain", "pods.spec.containers.livenessProbe"},
	{"rollout", "history", "deployment/nginx"},
	{"get", "pods", "-o", "custom-columns=NAME:.metadata.labels.app,QOS:.status.qosClass"},
}

// compareOutput applies the example on both sides and compares what kubectl shows of it.
func compareOutput(ctx context.Context, kubectl, example string, g *genuineSide, o *ours, report func(string, []string)) error {
	sides := map[string]*rest.Config{"genuine": g.Config(), "ours": o.cluster.RESTConfig()}
	files := map[string]string{}
	for name, config := range sides {
		path := filepath.Join(filepath.Dir(o.dir), name+".kubeconfig")
		if err := writeKubeconfig(path, config); err != nil {
			return err
		}
		files[name] = path
		for _, args := range [][]string{
			{"wait", "--for=create", "serviceaccount/default", "--timeout=60s"}, {"wait", "--for=condition=Ready", "nodes", "--all", "--timeout=60s"},
			{"apply", "-f", example}, {"rollout", "status", "deployment/nginx", "--timeout=60s"},
			{"wait", "--for=condition=Ready", "pods", "--all", "--timeout=60s"},
		} {
			if out, err := kubectlRun(ctx, kubectl, path, args); err != nil {
				return fmt.Errorf("%s: kubectl %s: %w\n%s", name, strings.Join(args, " "), err, out)
			}
		}
	}
	for _, args := range views {
		var texts []string
		for _, name := range []string{"genuine", "ours"} {
			out, err := kubectlRun(ctx, kubectl, files[name], args)
			if err != nil {
				return fmt.Errorf("%s: kubectl %s: %w\n%s", name, strings.Join(args, " "), err, out)
			}
			texts = append(texts, normalize(out))
		}
		report("kubectl "+strings.Join(args, " "), lineDifferences(texts[0], texts[1]))
	}
	return nil
}

func kubectlRun(ctx context.Context, kubectl, kubeconfig string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func writeKubeconfig(path string, config *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: config.Host, InsecureSkipTLSVerify: config.Insecure, CertificateAuthorityData: config.CAData}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: config.BearerToken, ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	k.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "x"
	return clientcmd.WriteToFile(*k, path)
}

// replacements are what two clusters never share: uids, versions, times, chance.
var replacements = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`[a-z-]+://[0-9a-f]{16,64}`), "CONTAINER"},
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "DIGEST"},
	{regexp.MustCompile(`resourceVersion: "\d+"`), "resourceVersion: N"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}`), "TIME"},
	{regexp.MustCompile(`(kube-api-access-)[a-z0-9]{5}`), "${1}X"},
	{regexp.MustCompile(`(nginx-[a-z0-9]{8,10}-)[a-z0-9]{5}`), "${1}X"},
	{regexp.MustCompile(`(nginx-)[a-z0-9]{5}( |$|\n)`), "${1}X$2"},
	{regexp.MustCompile(`10\.244\.\d+\.\d+`), "PODIP"},
	{regexp.MustCompile(`10\.96\.\d+\.\d+`), "SERVICEIP"},
	{regexp.MustCompile(`127\.0\.1\.\d`), "NODEIP"},
	{regexp.MustCompile(`node-\d`), "NODE"},
	{regexp.MustCompile(`\b\d+m?s( ago)?\b`), "AGE"},
	{regexp.MustCompile(`\bAGE \(x\d+ over AGE\)`), "AGE"},
	// How often a slice changed, and whether the last change came from a pod, depends on what came together.
	{regexp.MustCompile(`(?m)^ +(generation: \d+|endpoints.kubernetes.io/last-change-trigger-time: .*)\n`), ""},
	{regexp.MustCompile(`(?m)^ +annotations:\n( +creationTimestamp:)`), "$1"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+|127\.0\.0\.1`), "SERVER"},
	{regexp.MustCompile(`[ \t]+`), " "},
}

func normalize(s string) string {
	for _, r := range replacements {
		s = r.pattern.ReplaceAllString(s, r.with)
	}
	return s
}

// lineDifferences compares two texts line by line, whatever the order of equal blocks such as pods of one set.
func lineDifferences(a, b string) []string {
	count := map[string]int{}
	for _, l := range strings.Split(a, "\n") {
		count[strings.TrimRight(l, " ")]++
	}
	for _, l := range strings.Split(b, "\n") {
		count[strings.TrimRight(l, " ")]--
	}
	var out []string
	for l, n := range count {
		switch {
		case n > 0:
			out = append(out, fmt.Sprintf("   - %s (%dx)", l, n))
		case n < 0:
			out = append(out, fmt.Sprintf("   + %s (%dx)", l, -n))
		}
	}
	sort.Strings(out)
	return out
}
