package configuration

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// Load reads a configuration in YAML or JSON.
func Load(data []byte) (*configv1.KubeSchedulerConfiguration, error) {
	scheme := runtime.NewScheme()
	if err := configv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	object, kind, err := decoder.Decode(data, nil, nil)
	if err != nil && (object == nil || !runtime.IsStrictDecodingError(err)) {
		return nil, err
	}
	loaded, ok := object.(*configv1.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("couldn't decode as KubeSchedulerConfiguration, got %s: ", kind)
	}
	if err := strictly(err, loaded.DecodeNestedObjects(decoder)); err != nil {
		return nil, err
	}
	SetDefaults(loaded)
	if err := Validate(loaded); err != nil {
		return nil, err
	}
	return loaded, nil
}

// strictly joins what the strict decoding of the outer and the inner objects complained of.
func strictly(outer, inner error) error {
	var all []error
	for _, err := range []error{outer, inner} {
		strict, ok := runtime.AsStrictDecodingError(err)
		switch {
		case ok:
			all = append(all, strict.Errors()...)
		case err != nil:
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	return runtime.NewStrictDecodingError(all)
}

// Default is the configuration of an empty file.
func Default() *configv1.KubeSchedulerConfiguration {
	c := &configv1.KubeSchedulerConfiguration{}
	SetDefaults(c)
	return c
}

// errExtenders is said of what would be left out silently otherwise.
var errExtenders = errors.New("extenders are not supported")
