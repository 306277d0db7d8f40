package review

import (
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kogge-dev/kogge/apiserver/registry"
)

// Request says what is written, in the version that a rule names. It has neither a uid nor the objects.
func (s *Subject) Request(v *Version) *admissionv1.AdmissionRequest {
	dryRun := s.DryRun
	requestKind, requestResource := metav1.GroupVersionKind(s.Kind()), metav1.GroupVersionResource(s.Resource.GVR())
	return &admissionv1.AdmissionRequest{
		Kind: metav1.GroupVersionKind(v.Kind), Resource: metav1.GroupVersionResource(v.GVR()), SubResource: s.Subresource,
		RequestKind: &requestKind, RequestResource: &requestResource, RequestSubResource: s.Subresource,
		Name: s.ObjectName(), Namespace: s.NamespaceName(), Operation: admissionv1.Operation(s.Operation),
		UserInfo: s.userInfo(), DryRun: &dryRun, Options: runtime.RawExtension{Object: s.options()},
	}
}

func (s *Subject) userInfo() authenticationv1.UserInfo {
	u := authenticationv1.UserInfo{Username: s.User.Name, UID: s.User.UID, Groups: s.User.Groups, Extra: map[string]authenticationv1.ExtraValue{}}
	for k, v := range s.User.Extra {
		u.Extra[k] = v
	}
	return u
}

// options are the request's, with their kind. A patch is a creation or an update to those who judge it.
func (s *Subject) options() runtime.Object {
	if s.Options == nil || reflect.ValueOf(s.Options).IsNil() {
		return nil
	}
	out := s.Options
	if p, ok := out.(*metav1.PatchOptions); ok {
		if s.Operation == registry.Create {
			out = &metav1.CreateOptions{DryRun: p.DryRun, FieldManager: p.FieldManager, FieldValidation: p.FieldValidation}
		} else {
			out = &metav1.UpdateOptions{DryRun: p.DryRun, FieldManager: p.FieldManager, FieldValidation: p.FieldValidation}
		}
	} else {
		out = shallow(out)
	}
	kind := reflect.TypeOf(out).Elem().Name()
	out.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: metav1.GroupName, Version: "v1", Kind: kind})
	return out
}
