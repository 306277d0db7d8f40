package stages

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

// Node is what templates may ask about a simulated node.
type Node struct {
	Address  netip.Addr
	Port     int
	PodRange netip.Prefix
}

// world is what templates see besides the object.
type world struct {
	now       func() time.Time
	started   time.Time
	node      func(name string) (Node, bool)
	addresses *addresses
}

// generalFunctions need no object: sprig's, but those that look at the process's surroundings, and kwok's own.
var generalFunctions = sync.OnceValue(func() template.FuncMap {
	all := sprig.TxtFuncMap()
	for _, name := range []string{"env", "expandenv", "getHostByName"} {
		delete(all, name)
	}
	maps.Copy(all, template.FuncMap{
		"Quote": quote, "YAML": indentedYAML, "NodeConditions": func() any { return nodeConditions },
		"Version": func() string { return "kogge" },
	})
	return all
})

// quote makes one text of JSON, which YAML takes as it is, of any value.
func quote(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return strconv.Quote(fmt.Sprint(value))
	}
	if content[0] == '"' {
		return string(content)
	}
	return strconv.Quote(string(content))
}

// indentedYAML writes a value as YAML: with an indent, on lines of its own, two spaces deeper for each level.
func indentedYAML(value any, indent ...int) (string, error) {
	content, err := yaml.Marshal(value)
	if err != nil || len(indent) != 1 || indent[0] <= 0 {
		return string(content), err
	}
	return strings.ReplaceAll("\n"+string(content), "\n", "\n"+strings.Repeat("  ", indent[0])), nil
}

// nodeConditions are those of a node that is well, in the words of kubelets and of the controller of routes.
var nodeConditions = []any{
	nodeCondition("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
	nodeCondition("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
	nodeCondition("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
	nodeCondition("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
	nodeCondition("NetworkUnavailable", "False", "RouteCreated", "RouteController created a route"),
}

func nodeCondition(kind, status, reason, message string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
}

// scope is what the functions of a rendering see.
type scope struct {
	*world
	object object
}

func (s *scope) functions() template.FuncMap {
	return template.FuncMap{
		"Now":         func() string { return s.now().UTC().Format(time.RFC3339Nano) },
		"StartTime":   func() string { return s.started.UTC().Format(time.RFC3339Nano) },
		"NodeName":    s.nodeName,
		"NodeIP":      func() string { return s.nodeIP(s.nodeName()) },
		"NodePort":    s.nodePort,
		"NodeIPWith":  s.nodeIP,
		"NodeIPsWith": func(node string) []string { return list(s.nodeIP(node)) },
		"PodIP":       s.podIP,
		"PodIPWith":   s.podIPWith,
		"PodIPsWith": func(node string, hostNetwork bool, uid, name, namespace string) ([]string, error) {
			ip, err := s.podIPWith(node, hostNetwork, uid, name, namespace)
			return list(ip), err
		},
	}
}

// list of one address, or of none.
func list(address string) []string {
	if address == "" {
		return nil
	}
	return []string{address}
}

// nodeName is the object's own name if it is a node, and that of the pod's node if it is a pod.
func (s *scope) nodeName() string {
	switch s.object["kind"] {
	case nodeKind.Kind:
		return textAt(s.object, "metadata", "name")
	case podKind.Kind:
		return textAt(s.object, "spec", "nodeName")
	}
	return ""
}

func (s *scope) nodeIP(name string) string {
	if node, ours := s.node(name); ours {
		return node.Address.String()
	}
	return ""
}

func (s *scope) nodePort() int {
	node, _ := s.node(s.nodeName())
	return node.Port
}

func (s *scope) podIP() (string, error) {
	return s.podIPWith(s.nodeName(), false, textAt(s.object, "metadata", "uid"), "", "")
}

// podIPWith is an address of the node's range for pods; a pod that has one keeps it.
func (s *scope) podIPWith(nodeName string, hostNetwork bool, uid, _, _ string) (string, error) {
	node, ours := s.node(nodeName)
	switch {
	case !ours:
		return "", nil
	case hostNetwork:
		return node.Address.String(), nil
	}
	address, err := s.addresses.take(uid, node.PodRange)
	if err != nil {
		return "", err
	}
	return address.String(), nil
}

// textAt is the text at a place in an object; empty when there is none.
func textAt(o object, names ...string) string {
	var at any = o
	for _, name := range names {
		fields, _ := at.(map[string]any)
		at = fields[name]
	}
	found, _ := at.(string)
	return found
}
