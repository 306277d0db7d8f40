package fleet

import (
	"encoding/json"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kogge-dev/kogge/cluster/stages"
	"github.com/kogge-dev/kogge/kubelet/runtime/simulated"
)

// Configuration of a fleet, as a file of JSON or YAML holds it.
type Configuration struct {
	// Nodes is how many there are.
	Nodes    int          `json:"nodes"`
	Template NodeTemplate `json:"template,omitzero"`
	// Rules say how pods behave that have no annotations about it.
	Rules []Rule `json:"rules,omitempty"`
	// Stages are how objects live, in the words of kwok. With one for pods, pods behave by these alone.
	Stages []stages.Stage `json:"stages,omitempty"`
}

// Rule is simulated.Rule in a file.
type Rule struct {
	Namespace   string                `json:"namespace,omitempty"`
	Selector    *metav1.LabelSelector `json:"selector,omitempty"`
	Annotations map[string]string     `json:"annotations"`
}

// ReadConfiguration reads a file. A field that it doesn't know is an error.
func ReadConfiguration(file string) (Configuration, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return Configuration{}, fmt.Errorf("read the configuration of simulated nodes: %w", err)
	}
	var c Configuration
	if err := yaml.UnmarshalStrict(content, &c); err != nil {
		return Configuration{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := c.validate(); err != nil {
		return Configuration{}, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// Write writes the file, so that nobody ever reads half of it.
func (c Configuration) Write(file string) error {
	if err := c.validate(); err != nil {
		return err
	}
	content, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.WriteFile(file+".partial", content, 0o600)
	}
	if err == nil {
		err = os.Rename(file+".partial", file)
	}
	if err != nil {
		return fmt.Errorf("write the configuration of simulated nodes: %w", err)
	}
	return nil
}

// PodRules are the Rules with their selectors parsed.
func (c Configuration) PodRules() ([]simulated.Rule, error) {
	var rules []simulated.Rule
	for i, rule := range c.Rules {
		made := simulated.Rule{Namespace: rule.Namespace, Annotations: rule.Annotations}
		if rule.Selector != nil {
			var err error
			if made.Selector, err = metav1.LabelSelectorAsSelector(rule.Selector); err != nil {
				return nil, fmt.Errorf("rules[%d].selector: %w", i, err)
			}
		}
		rules = append(rules, made)
	}
	return rules, nil
}

func checkNumber(nodes int) error {
	if nodes < 0 || nodes > MostNodes {
		return fmt.Errorf("%d simulated nodes: must be 0 to %d", nodes, MostNodes)
	}
	return nil
}
