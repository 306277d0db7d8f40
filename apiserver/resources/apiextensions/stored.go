package apiextensions

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Internal gives the form that rules speak of. It shares no memory with what it is made of.
func Internal(d *apiextensionsv1.CustomResourceDefinition) (*apiextensions.CustomResourceDefinition, error) {
	out := &apiextensions.CustomResourceDefinition{}
	return out, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d.DeepCopy(), out, nil)
}

// marshal makes what a genuine server stores: JSON in the version before v1, which says once what all versions have in common.
func marshal(obj resource.Object) ([]byte, error) {
	n, err := Internal(obj.(*apiextensionsv1.CustomResourceDefinition))
	if err != nil {
		return nil, err
	}
	out := &apiextensionsv1beta1.CustomResourceDefinition{}
	if err := apiextensionsv1beta1.Convert_apiextensions_CustomResourceDefinition_To_v1beta1_CustomResourceDefinition(n, out, nil); err != nil {
		return nil, err
	}
	out.TypeMeta = metav1.TypeMeta{Kind: "CustomResourceDefinition", APIVersion: apiextensionsv1beta1.SchemeGroupVersion.String()}
	var b bytes.Buffer
	err = json.NewEncoder(&b).Encode(out)
	return b.Bytes(), err
}

// unmarshal reads what any genuine server may have stored.
func unmarshal(raw []byte) (resource.Object, error) {
	var head metav1.TypeMeta
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	out := &apiextensionsv1.CustomResourceDefinition{}
	switch head.APIVersion {
	case apiextensionsv1.SchemeGroupVersion.String():
		return out, json.Unmarshal(raw, out)
	case apiextensionsv1beta1.SchemeGroupVersion.String():
	default:
		return nil, fmt.Errorf("unknown version %q", head.APIVersion)
	}
	old := &apiextensionsv1beta1.CustomResourceDefinition{}
	if err := json.Unmarshal(raw, old); err != nil {
		return nil, err
	}
	apiextensionsv1beta1.SetObjectDefaults_CustomResourceDefinition(old)
	n := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1beta1.Convert_v1beta1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(old, n, nil); err != nil {
		return nil, err
	}
	return out, apiextensionsv1.Convert_apiextensions_CustomResourceDefinition_To_v1_CustomResourceDefinition(n, out, nil)
}

// SchemaOf gives the schema of a version, whether it is said for it or for all; nil if there is none.
func SchemaOf(d *apiextensions.CustomResourceDefinition, version string) (*apiextensions.JSONSchemaProps, error) {
	v, err := apiextensions.GetSchemaForVersion(d, version)
	if err != nil || v == nil {
		return nil, err
	}
	return v.OpenAPIV3Schema, nil
}
