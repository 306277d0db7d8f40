package resource

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

var metaDocs = metav1.ObjectMeta{}.SwaggerDoc()

// Columns that nearly every kind has.
var (
	NameColumn = metav1.TableColumnDefinition{Name: "Name", Type: "string", Format: "name", Description: metaDocs["name"]}
	AgeColumn  = metav1.TableColumnDefinition{Name: "Age", Type: "string", Description: metaDocs["creationTimestamp"]}
)

// Column is a column that every view shows.
func Column(name, kind, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: kind, Description: description}
}

// WideColumn is a column that only a wide view shows.
func WideColumn(name, kind, description string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: kind, Description: description, Priority: 1}
}

// Age tells how long ago a time was, as tables show it.
func Age(t metav1.Time) string {
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(time.Since(t.Time))
}

// AgeOf tells how old an object is.
func AgeOf(o metav1.Object) string { return Age(o.GetCreationTimestamp()) }

// BoolText shows a flag that may be unset.
func BoolText(b *bool) string {
	switch {
	case b == nil:
		return "<unset>"
	case *b:
		return "True"
	}
	return "False"
}
