package component

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/scale"
)

// Scales makes a client of the scale subresource of any kind that has one, custom kinds
// included.
func (e Environment) Scales() (scale.ScalesGetter, error) {
	config := rest.CopyConfig(e.Manager.GetConfig())
	config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	config.GroupVersion = &schema.GroupVersion{} // each request names its own
	config.NegotiatedSerializer = serializer.NewCodecFactory(scale.NewScaleConverter().Scheme()).WithoutConversion()
	served, err := discovery.NewDiscoveryClientForConfigAndClient(config, e.Manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for discovery: %w", err)
	}
	client, err := rest.RESTClientForConfigAndClient(config, e.Manager.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("make a client for scales: %w", err)
	}
	return scale.New(client, e.Manager.GetRESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(served)), nil
}
