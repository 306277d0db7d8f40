package revision

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Patch is the strategic merge patch that gives a workload the template back. Its bytes are
// what is compared and hashed, so the keys are in order.
func Patch(template *corev1.PodTemplateSpec) ([]byte, error) {
	encoded, err := json.Marshal(template)
	if err != nil {
		return nil, fmt.Errorf("encode the template: %w", err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		return nil, fmt.Errorf("take the template apart: %w", err)
	}
	fields["$patch"] = "replace"
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"template": fields}})
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	return data, nil
}

// Template is the template that a stored patch gives back.
func Template(data []byte) (*corev1.PodTemplateSpec, error) {
	type workload struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	patched, err := strategicpatch.StrategicMergePatch([]byte(`{"spec":{"template":{}}}`), data, workload{})
	if err != nil {
		return nil, fmt.Errorf("apply the stored patch: %w", err)
	}
	var restored workload
	if err := json.Unmarshal(patched, &restored); err != nil {
		return nil, fmt.Errorf("read the stored template: %w", err)
	}
	return &restored.Spec.Template, nil
}
