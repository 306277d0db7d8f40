package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// maxDataSize bounds the data of a ConfigMap or Secret, in bytes.
const maxDataSize = 1 << 20

// immutableText is why an immutable ConfigMap or Secret stays as it is.
const immutableText = "field is immutable when `immutable` is set"

// ConfigMap holds configuration for pods.
var ConfigMap = resource.Define(resource.Kind[*corev1.ConfigMap]{
	Name:  resource.Name{Version: "v1", Kind: "ConfigMap", Plural: "configmaps", Short: []string{"cm"}, Namespaced: true},
	List:  &corev1.ConfigMapList{},
	Store: "configmaps",
	Strategy: resource.Strategy[*corev1.ConfigMap]{
		Validate: func(_ context.Context, c *corev1.ConfigMap) field.ErrorList { return validateConfigMap(c) },
		ValidateUpdate: func(_ context.Context, c, old *corev1.ConfigMap) field.ErrorList {
			var errs field.ErrorList
			if old.Immutable != nil && *old.Immutable {
				if c.Immutable == nil || !*c.Immutable {
					errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableText))
				}
				if !equality.Semantic.DeepEqual(c.Data, old.Data) {
					errs = append(errs, field.Forbidden(field.NewPath("data"), immutableText))
				}
				if !equality.Semantic.DeepEqual(c.BinaryData, old.BinaryData) {
					errs = append(errs, field.Forbidden(field.NewPath("binaryData"), immutableText))
				}
			}
			return append(errs, validateConfigMap(c)...)
		},
	},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns:      []metav1.TableColumnDefinition{resource.NameColumn, resource.Column("Data", "string", corev1.ConfigMap{}.SwaggerDoc()["data"]), resource.AgeColumn},
	Row: func(c *corev1.ConfigMap) []any {
		return []any{c.Name, int64(len(c.Data) + len(c.BinaryData)), resource.AgeOf(c)}
	},
})

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	var errs field.ErrorList
	size := 0
	for key, value := range c.Data {
		errs = append(errs, validateKey(field.NewPath("data"), key)...)
		if _, twice := c.BinaryData[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, "duplicate of key present in binaryData"))
		}
		size += len(value)
	}
	for key, value := range c.BinaryData {
		errs = append(errs, validateKey(field.NewPath("binaryData"), key)...)
		size += len(value)
	}
	if size > maxDataSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", maxDataSize))
	}
	return errs
}

func validateKey(path *field.Path, key string) field.ErrorList {
	var errs field.ErrorList
	for _, text := range validation.IsConfigMapKey(key) {
		errs = append(errs, field.Invalid(path.Key(key), key, text))
	}
	return errs
}
