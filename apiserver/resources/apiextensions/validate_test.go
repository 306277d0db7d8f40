package apiextensions

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/kogge-dev/kogge/apiserver/resource"
)

const valid = `
metadata: {name: foos.a.example, uid: u, resourceVersion: "1"}
spec:
  group: a.example
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {x: {type: string}, list: {type: array, items: {type: string}}}}
`

func parse(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), d); err != nil {
		t.Fatal(err)
	}
	Definition.Default(d)
	Definition.PrepareForCreate(t.Context(), d)
	return d
}

// TestValidate: what is wrong is told in upstream's words, where upstream says it is.
func TestValidate(t *testing.T) {
	t.Parallel()
	spec := `spec: {type: object, properties: {x: {type: string}, list: {type: array, items: {type: string}}}}`
	for _, x := range []struct{ name, from, to, want string }{
		{"valid", "", "", ""},
		{"name", "name: foos.a.example", "name: bars.a.example", `metadata.name: Invalid value: "bars.a.example": must be spec.names.plural+"."+spec.group`},
		{"scope", "scope: Namespaced", "scope: Everywhere", `spec.scope: Unsupported value: "Everywhere": supported values: "Cluster", "Namespaced"`},
		{"stored", "storage: true", "storage: false", "must have exactly one version marked as storage version"},
		{"kind", "kind: Foo", "kind: Foo, listKind: Foo", `spec.names.listKind: Invalid value: "Foo": kind and listKind may not be the same`},
		{"type", spec, `spec: {type: thing}`, `spec.validation.openAPIV3Schema.properties[spec].type: Unsupported value: "thing": supported values: "array", "boolean", "integer", "number", "object", "string"`},
		{"no type", spec, `spec: {properties: {x: {type: string}}}`, "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields"},
		{"unique", spec, `spec: {type: array, items: {type: string}, uniqueItems: true}`, "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"},
		{"default", spec, `spec: {type: string, default: 5}`, `must be of type string`},
		{"list keys", spec, `spec: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}}`,
			"properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"},
		{"rule", spec, `spec: {type: object, x-kubernetes-validations: [{rule: self.y > 1}], properties: {x: {type: string}}}`, "undefined field 'y'"},
		{"costly rule", spec, `spec: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a == b || a.contains(b)))"}]}`,
			"estimated rule cost exceeds budget by factor of more than 100x"},
		{"old value", spec, `spec: {type: array, items: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}`, "oldSelf cannot be used on the uncorrelatable portion of the schema"},
		{"line breaks", spec, `spec: {type: string, x-kubernetes-validations: [{rule: "self ==\n'x'"}]}`, "message must be specified if rule contains line breaks"},
		{"column", "storage: true", "storage: true\n    additionalPrinterColumns: [{name: A, type: thing, jsonPath: x}]",
			`spec.additionalPrinterColumns[0].type: Invalid value: "thing": must be one of boolean,date,integer,number,string`},
		{"scale", "storage: true", "storage: true\n    subresources: {scale: {specReplicasPath: .status.x, statusReplicasPath: .status.y}}",
			`spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec`},
		{"selectable", "storage: true", "storage: true\n    selectableFields: [{jsonPath: .spec.list}]", "must point to a field of type string, boolean or integer"},
		{"conversion", "scope: Namespaced", "scope: Namespaced\n  conversion: {strategy: Webhook}", "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook"},
		{"preserve", "scope: Namespaced", "scope: Namespaced\n  preserveUnknownFields: true", "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"},
	} {
		d := parse(t, strings.Replace(valid, x.from, x.to, 1))
		errs := Definition.Validate(t.Context(), d)
		text := ""
		if len(errs) > 0 {
			text = errs.ToAggregate().Error()
		}
		if (x.want == "") != (text == "") || !strings.Contains(text, x.want) {
			t.Errorf("%s: %s", x.name, text)
		}
	}
}

// TestValidateUpdate: what an old definition was allowed stays allowed, and its names are fixed once it is served.
func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	old := parse(t, valid)
	SetCondition(old, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}, old.CreationTimestamp)
	d := old.DeepCopy()
	d.Spec.Names.Kind = "Bar"
	if errs := Definition.ValidateUpdate(t.Context(), d, old); len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), "spec.names.kind: Invalid value: \"Bar\": field is immutable") {
		t.Error(errs)
	}
	d = old.DeepCopy()
	d.Spec.Versions = append(d.Spec.Versions, *d.Spec.Versions[0].DeepCopy())
	d.Spec.Versions[0].Name, d.Spec.Versions[1].Name, d.Spec.Versions[1].Storage = "v2", "v3", false
	Definition.PrepareForUpdate(t.Context(), d, old)
	if errs := Definition.ValidateUpdate(t.Context(), d, old); len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), "v1 was previously a storage version") {
		t.Error(errs)
	}
}

// TestStored: a definition comes back from the store as it was, whichever version it is stored in.
func TestStored(t *testing.T) {
	t.Parallel()
	d := parse(t, valid)
	raw, err := Definition.Form.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(raw), `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1"`) || !strings.Contains(string(raw), `"validation":{"openAPIV3Schema"`) {
		t.Errorf("stored as %s", raw)
	}
	var back resource.Object
	if back, err = Definition.Form.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	again, err := Definition.Form.Marshal(back)
	if err != nil || string(again) != string(raw) {
		t.Errorf("%s\nbecame %s, %v", raw, again, err)
	}
}
