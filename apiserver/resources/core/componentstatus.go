package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// ComponentStatus tells whether a part of the control plane is well.
var ComponentStatus = componentStatus()

func componentStatus() *resource.Resource {
	r := resource.DefineObserved(
		resource.Name{Version: "v1", Kind: "ComponentStatus", Plural: "componentstatuses", Short: []string{"cs"}},
		&corev1.ComponentStatusList{},
		[]metav1.TableColumnDefinition{
			{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
			{Name: "Status", Type: "string", Description: "Status of the component conditions"},
			{Name: "Message", Type: "string", Description: "Message of the component conditions"},
			{Name: "Error", Type: "string", Description: "Error of the component conditions"},
		},
		func(c *corev1.ComponentStatus) []any {
			status, message, failure := "Unknown", "", ""
			for _, condition := range c.Conditions {
				if condition.Type != corev1.ComponentHealthy {
					continue
				}
				status, message, failure = "Unhealthy", condition.Message, condition.Error
				if condition.Status == corev1.ConditionTrue {
					status = "Healthy"
				}
			}
			return []any{c.Name, status, message, failure}
		})
	r.Deprecated = "v1 ComponentStatus is deprecated in v1.19+"
	return r
}
