package core

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var secretDocs = corev1.Secret{}.SwaggerDoc()

// Secret holds what pods need and others should not see. stringData is written into data and never stored.
var Secret = resource.Define(resource.Kind[*corev1.Secret]{
	Name:  resource.Name{Version: "v1", Kind: "Secret", Plural: "secrets", Namespaced: true},
	List:  &corev1.SecretList{},
	Store: "secrets",
	Default: func(s *corev1.Secret) {
		if s.Type == "" {
			s.Type = corev1.SecretTypeOpaque
		}
		for key, value := range s.StringData {
			if s.Data == nil {
				s.Data = map[string][]byte{}
			}
			s.Data[key] = []byte(value)
		}
		s.StringData = nil
	},
	Strategy: resource.Strategy[*corev1.Secret]{
		PrepareForUpdate: func(_ context.Context, s, old *corev1.Secret) {
			// A type left out stays; it was defaulted to Opaque before this.
			if s.Type == "" {
				s.Type = old.Type
			}
		},
		Validate:       func(_ context.Context, s *corev1.Secret) field.ErrorList { return validateSecret(s) },
		ValidateUpdate: func(_ context.Context, s, old *corev1.Secret) field.ErrorList { return validateSecretUpdate(s, old) },
	},
	Fields:       map[string]func(*corev1.Secret) string{"type": func(s *corev1.Secret) string { return string(s.Type) }},
	ValidateName: apivalidation.NameIsDNSSubdomain,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn, resource.Column("Type", "string", secretDocs["type"]), resource.Column("Data", "string", secretDocs["data"]), resource.AgeColumn,
	},
	Row: func(s *corev1.Secret) []any {
		return []any{s.Name, string(s.Type), int64(len(s.Data)), resource.AgeOf(s)}
	},
})

func validateSecretUpdate(s, old *corev1.Secret) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
	if old.Immutable != nil && *old.Immutable {
		if s.Immutable == nil || !*s.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), immutableText))
		}
		if !equality.Semantic.DeepEqual(s.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), immutableText))
		}
	}
	return append(errs, validateSecret(s)...)
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	var errs field.ErrorList
	data := field.NewPath("data")
	size := 0
	for key, value := range s.Data {
		errs = append(errs, validateKey(data, key)...)
		size += len(value)
	}
	if size > maxDataSize {
		errs = append(errs, field.TooLong(data, "", maxDataSize))
	}
	need := func(keys ...string) {
		for _, k := range keys {
			if _, ok := s.Data[k]; !ok {
				errs = append(errs, field.Required(data.Key(k), ""))
			}
		}
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, validateJSONKey(s, data, corev1.DockerConfigKey)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, validateJSONKey(s, data, corev1.DockerConfigJsonKey)...)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		_, password := s.Data[corev1.BasicAuthPasswordKey]
		if !user && !password {
			need(corev1.BasicAuthUsernameKey, corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			errs = append(errs, field.Required(data.Key(corev1.SSHAuthPrivateKey), ""))
		}
	case corev1.SecretTypeTLS:
		need(corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return errs
}

func validateJSONKey(s *corev1.Secret, path *field.Path, key string) field.ErrorList {
	value, ok := s.Data[key]
	if !ok {
		return field.ErrorList{field.Required(path.Key(key), "")}
	}
	if err := json.Unmarshal(value, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(path.Key(key), "<secret contents redacted>", err.Error())}
	}
	return nil
}
