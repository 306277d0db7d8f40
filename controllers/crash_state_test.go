package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// namespaced and global are the resources that make a state.
var (
	namespaced = []string{
		"v1/pods", "v1/services", "v1/endpoints", "v1/configmaps", "v1/serviceaccounts", "v1/replicationcontrollers", "v1/resourcequotas",
		"v1/persistentvolumeclaims", "apps/v1/deployments", "apps/v1/replicasets", "apps/v1/statefulsets", "apps/v1/daemonsets",
		"apps/v1/controllerrevisions", "batch/v1/jobs", "batch/v1/cronjobs", "discovery.k8s.io/v1/endpointslices",
		"policy/v1/poddisruptionbudgets", "autoscaling/v2/horizontalpodautoscalers", "resource.k8s.io/v1/resourceclaims",
	}
	global = []string{
		"v1/namespaces", "v1/nodes", "v1/persistentvolumes", "rbac.authorization.k8s.io/v1/clusterroles", "storage.k8s.io/v1/volumeattributesclasses",
		"admissionregistration.k8s.io/v1/validatingadmissionpolicies", "certificates.k8s.io/v1/certificatesigningrequests",
		"networking.k8s.io/v1/servicecidrs",
	}
)

// state is everything that belongs to a run, without what differs between runs by chance or time; sorted.
func (s *stage) state(ctx context.Context, run string) ([]string, error) {
	var objects []unstructured.Unstructured
	for _, name := range namespaced {
		list, err := s.objects.Resource(resourceOf(name)).Namespace(run).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", name, err)
		}
		objects = append(objects, list.Items...)
	}
	for _, name := range global {
		list, err := s.objects.Resource(resourceOf(name)).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", name, err)
		}
		for _, object := range list.Items {
			if strings.HasPrefix(object.GetName(), run) {
				objects = append(objects, object)
			}
		}
	}
	return normalised(objects, run)
}

func resourceOf(name string) schema.GroupVersionResource {
	parts := strings.Split(name, "/")
	if len(parts) == 2 {
		return schema.GroupVersionResource{Version: parts[0], Resource: parts[1]}
	}
	return schema.GroupVersionResource{Group: parts[0], Version: parts[1], Resource: parts[2]}
}

// chance is what no two runs have in common.
var chance = []struct {
	text *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+\b`), "IP"},
	{regexp.MustCompile(`kube-api-access-\w{5}`), "TOKEN"},
	{regexp.MustCompile(`\bnode-\d+\b`), "NODE"},
	{regexp.MustCompile(`p-own-(\w{5}|\*)`), "CLAIM"}, // noted in a pod when it is gone itself
	{regexp.MustCompile(`"certificate":"[^"]+"`), `"certificate":"CERTIFICATE"`},
	{regexp.MustCompile(`"request":"[^"]+"`), `"request":"REQUEST"`},
	{regexp.MustCompile(`[a-z]+://[0-9a-f]{12,}`), "CONTAINER"},
	{regexp.MustCompile(`RUN-any-\w+`), "ANY"},  // of several that are alike
	{regexp.MustCompile(`-\d{8}\b`), "-MINUTE"}, // names of a CronJob's Jobs
}

func normalised(objects []unstructured.Unstructured, run string) ([]string, error) {
	names := []string{run, "RUN"}
	for _, object := range objects {
		if prefix := object.GetGenerateName(); prefix != "" {
			names = append(names, object.GetName(), prefix+"*")
		}
	}
	rename := strings.NewReplacer(names...)
	var out []string
	for _, object := range objects {
		text, err := json.Marshal(plain("", without(object)))
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", object.GetName(), err)
		}
		line := rename.Replace(string(text))
		for _, c := range chance {
			line = c.text.ReplaceAllString(line, c.name)
		}
		var value any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			return nil, fmt.Errorf("decode %s: %w", line, err)
		}
		// Once more, since lists are sorted by what is left.
		if text, err = json.Marshal(plain("", value)); err != nil {
			return nil, fmt.Errorf("encode %s: %w", line, err)
		}
		out = append(out, string(text))
	}
	slices.Sort(out)
	return out, nil
}

// without is an object without the fields of the store's own. How often a spec was changed on the way may differ,
// whether its status is about the last change may not.
func without(object unstructured.Unstructured) map[string]any {
	content := maps.Clone(object.Object)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, field := range []string{"managedFields", "resourceVersion", "creationTimestamp", "generation", "uid"} {
		delete(metadata, field)
	}
	content["metadata"] = metadata
	if status, ok := content["status"].(map[string]any); ok && status["observedGeneration"] != nil {
		status = maps.Clone(status)
		status["observedGeneration"] = status["observedGeneration"] == object.GetGeneration()
		if object.GetKind() == "HorizontalPodAutoscaler" {
			forgetful(status)
		}
		content["status"] = status
	}
	return content
}

// forgetful removes what an autoscaler notes of what it did only after it was done: it is lost with a life, as upstream.
func forgetful(status map[string]any) {
	delete(status, "lastScaleTime")
	delete(status, "desiredReplicas")
	conditions, _ := status["conditions"].([]any)
	status["conditions"] = slices.DeleteFunc(slices.Clone(conditions), func(c any) bool {
		condition, _ := c.(map[string]any)
		return condition["type"] == "ScaledToZero"
	})
}

// unordered are lists in which the order says nothing.
var unordered = []string{"conditions", "endpoints", "addresses", "ownerReferences", "finalizers"}

func plain(key string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range value {
			out[k] = plain(k, v)
		}
		if _, condition := value["lastTransitionTime"]; condition {
			delete(out, "observedGeneration")
		}
		delete(out, "resourceVersion") // of what an object refers to
		// When the last change was is known only to those who saw it.
		delete(out, "endpoints.kubernetes.io/last-change-trigger-time")
		if annotations, ok := out["annotations"].(map[string]any); ok && len(annotations) == 0 {
			delete(out, "annotations")
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = plain("", v)
		}
		if slices.Contains(unordered, key) {
			slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return out
	}
	return value
}

// difference says in which objects two states differ.
func difference(want, got []string) string {
	var out strings.Builder
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintf(&out, "\n- %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintf(&out, "\n+ %s", line)
		}
	}
	if out.Len() == 0 && len(want) != len(got) {
		return fmt.Sprintf("%d objects instead of %d", len(got), len(want))
	}
	return out.String()
}
