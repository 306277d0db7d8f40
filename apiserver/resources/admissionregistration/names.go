package admissionregistration

import (
	"fmt"
	"strings"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// reservedSuffix ends names of configurations that a genuine server reads from files.
const reservedSuffix = ".static.k8s.io"

var reservedText = fmt.Sprintf("names ending with %q are reserved for static manifest-based configurations and cannot be managed via the API", reservedSuffix)

// reserved refuses names that are not for the API.
func reserved(name string) field.ErrorList {
	if !strings.HasSuffix(name, reservedSuffix) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), name, reservedText)}
}

// reservedWarnings says the same of what was there before the rule.
func reservedWarnings(name string) []string {
	if !strings.HasSuffix(name, reservedSuffix) {
		return nil
	}
	return []string{"metadata.name: " + reservedText}
}

func validateMeta(obj resource.Object) field.ErrorList {
	return genericvalidation.ValidateObjectMetaAccessor(obj, false, genericvalidation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

func validateQualifiedName(path *field.Path, name string) field.ErrorList {
	return rules.Invalid(path, name, validation.IsQualifiedName(name))
}
