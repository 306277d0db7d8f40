package apiregistration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/ptr"

	genericvalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

var specPath = field.NewPath("spec")

// Bounds of priorities.
const (
	maxGroupPriority   = 20000
	maxVersionPriority = 1000
)

// APIService says who serves a group version: this server, or another behind a Service. It is stored as JSON.
var APIService = resource.Define(resource.Kind[*apiregistrationv1.APIService]{
	Name:  resource.Name{Group: apiregistrationv1.GroupName, Version: "v1", Kind: "APIService", Plural: "apiservices", Categories: []string{"api-extensions"}},
	List:  &apiregistrationv1.APIServiceList{},
	Store: "apiregistration.k8s.io/apiservices",
	Form:  &resource.Form{Marshal: marshal, Unmarshal: unmarshal},
	Default: func(s *apiregistrationv1.APIService) {
		if s.Spec.Service != nil && s.Spec.Service.Port == nil {
			s.Spec.Service.Port = ptr.To[int32](443)
		}
	},
	Strategy: resource.Strategy[*apiregistrationv1.APIService]{
		PrepareForCreate: func(_ context.Context, s *apiregistrationv1.APIService) {
			s.Status = apiregistrationv1.APIServiceStatus{}
			if s.Spec.Service == nil {
				s.Status.Conditions = []apiregistrationv1.APIServiceCondition{{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue,
					LastTransitionTime: metav1.Now(), Reason: "Local", Message: "Local APIServices are always available"}}
			}
		},
		PrepareForUpdate: func(_ context.Context, s, old *apiregistrationv1.APIService) { s.Status = old.Status },
		Validate:         func(_ context.Context, s *apiregistrationv1.APIService) field.ErrorList { return validate(s) },
		ValidateUpdate: func(_ context.Context, s, old *apiregistrationv1.APIService) field.ErrorList {
			return append(genericvalidation.ValidateObjectMetaUpdate(&s.ObjectMeta, &old.ObjectMeta, field.NewPath("metadata")), validate(s)...)
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*apiregistrationv1.APIService]{
		PrepareForUpdate: func(_ context.Context, s, old *apiregistrationv1.APIService) {
			s.Spec, s.Labels, s.Annotations = old.Spec, old.Labels, old.Annotations
			s.Finalizers, s.OwnerReferences = old.Finalizers, old.OwnerReferences
		},
		ValidateUpdate: func(_ context.Context, s, _ *apiregistrationv1.APIService) field.ErrorList { return validateStatus(s) },
		ResetFields:    []string{"metadata", "spec"},
	},
	Structure:    structure,
	OwnMetadata:  true,
	NeedsVersion: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.Column("Service", "string", "The reference to the service that hosts this API endpoint."),
		resource.Column("Available", "string", "Whether this service is available."),
		resource.AgeColumn,
	},
	Row: func(s *apiregistrationv1.APIService) []any {
		service := "Local"
		if r := s.Spec.Service; r != nil {
			service = r.Namespace + "/" + r.Name
		}
		return []any{s.Name, service, availability(s), resource.AgeOf(s)}
	},
})

func availability(s *apiregistrationv1.APIService) string {
	for _, c := range s.Status.Conditions {
		if c.Type != apiregistrationv1.Available {
			continue
		}
		if c.Status == apiregistrationv1.ConditionTrue || c.Reason == "" {
			return string(c.Status)
		}
		return fmt.Sprintf("%s (%s)", c.Status, c.Reason)
	}
	return string(apiregistrationv1.ConditionUnknown)
}

func validate(s *apiregistrationv1.APIService) field.ErrorList {
	name := s.Spec.Version + "." + s.Spec.Group
	errs := genericvalidation.ValidateObjectMeta(&s.ObjectMeta, false, func(given string, _ bool) []string {
		if bad := content.IsPathSegmentName(given); len(bad) > 0 {
			return bad
		}
		if given != name {
			return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", name)}
		}
		return nil
	}, field.NewPath("metadata"))
	p := &s.Spec
	if p.Group == "" && p.Version != "v1" {
		errs = append(errs, field.Required(specPath.Child("group"), "only v1 may have an empty group and it better be legacy kube"))
	}
	if p.Group != "" {
		for _, text := range validation.IsDNS1123Subdomain(p.Group) {
			errs = append(errs, field.Invalid(specPath.Child("group"), p.Group, text))
		}
	}
	for _, text := range validation.IsDNS1035Label(p.Version) {
		errs = append(errs, field.Invalid(specPath.Child("version"), p.Version, text))
	}
	if p.GroupPriorityMinimum <= 0 || p.GroupPriorityMinimum > maxGroupPriority {
		errs = append(errs, field.Invalid(specPath.Child("groupPriorityMinimum"), p.GroupPriorityMinimum, "must be positive and less than 20000"))
	}
	if p.VersionPriority <= 0 || p.VersionPriority > maxVersionPriority {
		errs = append(errs, field.Invalid(specPath.Child("versionPriority"), p.VersionPriority, "must be positive and less than 1000"))
	}
	return append(errs, validateTarget(p)...)
}

// validateTarget judges how another server is reached; this one needs nothing for it.
func validateTarget(p *apiregistrationv1.APIServiceSpec) field.ErrorList {
	var errs field.ErrorList
	bundle, insecure := specPath.Child("caBundle"), specPath.Child("insecureSkipTLSVerify")
	if p.Service == nil {
		if len(p.CABundle) != 0 {
			errs = append(errs, field.Invalid(bundle, fmt.Sprintf("%d bytes", len(p.CABundle)), "local APIServices may not have a caBundle"))
		}
		if p.InsecureSkipTLSVerify {
			errs = append(errs, field.Invalid(insecure, true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return errs
	}
	service := specPath.Child("service")
	if p.Service.Namespace == "" {
		errs = append(errs, field.Required(service.Child("namespace"), ""))
	}
	if p.Service.Name == "" {
		errs = append(errs, field.Required(service.Child("name"), ""))
	}
	if port := ptr.Deref(p.Service.Port, 0); len(validation.IsValidPortNum(int(port))) > 0 {
		errs = append(errs, field.Invalid(service.Child("port"), port, "port is not valid: "+strings.Join(validation.IsValidPortNum(int(port)), ", ")))
	}
	if p.InsecureSkipTLSVerify && len(p.CABundle) > 0 {
		errs = append(errs, field.Invalid(insecure, true, "may not be true if caBundle is present"))
	}
	return errs
}

func validateStatus(s *apiregistrationv1.APIService) field.ErrorList {
	var errs field.ErrorList
	for i, c := range s.Status.Conditions {
		switch c.Status {
		case apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown:
		default:
			errs = append(errs, field.NotSupported(field.NewPath("status", "conditions").Index(i).Child("status"), c.Status,
				[]apiregistrationv1.ConditionStatus{apiregistrationv1.ConditionTrue, apiregistrationv1.ConditionFalse, apiregistrationv1.ConditionUnknown}))
		}
	}
	return errs
}

func marshal(obj resource.Object) ([]byte, error) {
	s := *obj.(*apiregistrationv1.APIService)
	s.TypeMeta = metav1.TypeMeta{Kind: "APIService", APIVersion: apiregistrationv1.SchemeGroupVersion.String()}
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(&s)
	return b.Bytes(), err
}

func unmarshal(raw []byte) (resource.Object, error) {
	s := &apiregistrationv1.APIService{}
	return s, json.Unmarshal(raw, s)
}
