package podautoscaler

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// The three APIs that serve metrics, if anybody does. The second has two versions; which one
// is asked for each time.
var (
	resourceMetrics = schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	customMetrics   = schema.GroupVersion{Group: "custom.metrics.k8s.io", Version: ""}
	externalMetrics = schema.GroupVersion{Group: "external.metrics.k8s.io", Version: "v1beta1"}
)

// presetWindow is what a custom metric was averaged over if it doesn't say so.
const presetWindow = time.Minute

// reader reads metrics.
type reader struct {
	mapper                     meta.RESTMapper
	resource, custom, external rest.Interface
}

func newReader(config *rest.Config, client *http.Client, mapper meta.RESTMapper) (*reader, error) {
	r := &reader{mapper: mapper}
	for _, api := range []struct {
		gv schema.GroupVersion
		to *rest.Interface
	}{{resourceMetrics, &r.resource}, {customMetrics, &r.custom}, {externalMetrics, &r.external}} {
		c := rest.CopyConfig(config)
		c.GroupVersion, c.APIPath = &api.gv, "/apis"
		c.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
		c.ContentType, c.AcceptContentTypes = "application/json", "application/json"
		made, err := rest.RESTClientForConfigAndClient(c, client)
		if err != nil {
			return nil, fmt.Errorf("make a client for %s: %w", api.gv.Group, err)
		}
		*api.to = made
	}
	return r, nil
}

// read reads one metric. What goes wrong is in the reading: it is a result like any other.
func (r *reader) read(ctx context.Context, namespace string, selector labels.Selector, spec *autoscalingv2.MetricSpec) (reading Reading) {
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		reading.Samples, reading.Err = r.usage(ctx, namespace, selector, spec.Resource.Name, "")
	case autoscalingv2.ContainerResourceMetricSourceType:
		reading.Samples, reading.Err = r.usage(ctx, namespace, selector, spec.ContainerResource.Name, spec.ContainerResource.Container)
	case autoscalingv2.PodsMetricSourceType:
		reading.Samples, reading.Err = r.ofPods(ctx, namespace, selector, spec.Pods.Metric)
	case autoscalingv2.ObjectMetricSourceType:
		reading.Value, reading.Err = r.ofObject(ctx, namespace, spec.Object.DescribedObject, spec.Object.Metric)
	case autoscalingv2.ExternalMetricSourceType:
		reading.Values, reading.Err = r.outside(ctx, namespace, spec.External.Metric)
	}
	return reading
}

func fetch(ctx context.Context, request *rest.Request, into any) error {
	body, err := request.Do(ctx).Raw()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("read what the metrics API says: %w", err)
	}
	return nil
}

// podMetricsList is the part of metrics.k8s.io's list that matters.
type podMetricsList struct {
	Items []struct {
		Metadata   metav1.ObjectMeta `json:"metadata"`
		Timestamp  metav1.Time       `json:"timestamp"`
		Window     metav1.Duration   `json:"window"`
		Containers []struct {
			Name  string              `json:"name"`
			Usage corev1.ResourceList `json:"usage"`
		} `json:"containers"`
	} `json:"items"`
}

// usage gives what pods use of a resource, or what one container does in each.
func (r *reader) usage(ctx context.Context, namespace string, selector labels.Selector, name corev1.ResourceName, container string) (Samples, error) {
	var list podMetricsList
	request := r.resource.Get().Namespace(namespace).Resource("pods").Param("labelSelector", selector.String())
	if err := fetch(ctx, request, &list); err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from resource metrics API: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, errors.New("no metrics returned from resource metrics API")
	}
	return list.samples(name, container), nil
}

// samples adds up the containers of each pod. A pod of which a container wasn't measured has
// none.
func (l *podMetricsList) samples(name corev1.ResourceName, container string) Samples {
	samples := Samples{}
	for _, pod := range l.Items {
		sum, complete := int64(0), false
		for _, c := range pod.Containers {
			if container != "" && c.Name != container {
				continue
			}
			amount, measured := c.Usage[name]
			if complete = measured; !measured {
				break
			}
			sum += amount.MilliValue()
		}
		if complete {
			samples[pod.Metadata.Name] = Sample{Value: sum, At: pod.Timestamp.Time, Window: pod.Window.Duration}
		}
	}
	return samples
}

// valueList is the part of the lists of the other two APIs that matters.
type valueList struct {
	Items []struct {
		DescribedObject corev1.ObjectReference `json:"describedObject"`
		Timestamp       metav1.Time            `json:"timestamp"`
		WindowSeconds   *int64                 `json:"windowSeconds"`
		Value           resource.Quantity      `json:"value"`
	} `json:"items"`
}

func (r *reader) ofPods(ctx context.Context, namespace string, selector labels.Selector, metric autoscalingv2.MetricIdentifier) (Samples, error) {
	list, err := r.customValues(ctx, namespace, []string{"pods", "*", metric.Name}, selector, metric)
	if err != nil {
		return nil, err
	}
	samples := Samples{}
	for _, item := range list.Items {
		sample := Sample{Value: item.Value.MilliValue(), At: item.Timestamp.Time, Window: presetWindow}
		if item.WindowSeconds != nil {
			sample.Window = time.Duration(*item.WindowSeconds) * time.Second
		}
		samples[item.DescribedObject.Name] = sample
	}
	return samples, nil
}

func (r *reader) ofObject(ctx context.Context, namespace string, object autoscalingv2.CrossVersionObjectReference, metric autoscalingv2.MetricIdentifier) (int64, error) {
	kind := schema.FromAPIVersionAndKind(object.APIVersion, object.Kind)
	path := []string{"metrics", metric.Name}
	if kind.GroupKind() != (schema.GroupKind{Kind: "Namespace"}) {
		mapping, err := r.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return 0, fmt.Errorf("unable to fetch metrics from custom metrics API: %w", err)
		}
		path = []string{mapping.Resource.GroupResource().String(), object.Name, metric.Name}
	}
	list, err := r.customValues(ctx, namespace, path, nil, metric)
	if err != nil {
		return 0, err
	}
	return list.Items[0].Value.MilliValue(), nil
}

// customValues asks for custom metrics; of objects of a kind by selector, or of one.
func (r *reader) customValues(ctx context.Context, namespace string, path []string, selector labels.Selector, metric autoscalingv2.MetricIdentifier) (*valueList, error) {
	wrap := func(err error) error { return fmt.Errorf("unable to fetch metrics from custom metrics API: %w", err) }
	wanted, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil {
		return nil, wrap(err)
	}
	group := &metav1.APIGroup{}
	switch err := fetch(ctx, r.custom.Get().AbsPath("/apis/"+customMetrics.Group), group); {
	case apierrors.IsNotFound(err):
		return nil, wrap(errors.New("no custom metrics API (custom.metrics.k8s.io) registered"))
	case err != nil:
		return nil, wrap(err)
	}
	request := r.custom.Get().AbsPath("/apis/" + group.PreferredVersion.GroupVersion).Namespace(namespace).Suffix(path...)
	if selector != nil {
		request = request.Param("labelSelector", selector.String())
	}
	if metric.Selector != nil {
		request = request.Param("metricLabelSelector", wanted.String())
	}
	list := &valueList{}
	if err := fetch(ctx, request, list); err != nil {
		return nil, wrap(err)
	}
	if len(list.Items) == 0 {
		return nil, errors.New("no metrics returned from custom metrics API")
	}
	return list, nil
}

func (r *reader) outside(ctx context.Context, namespace string, metric autoscalingv2.MetricIdentifier) ([]int64, error) {
	wanted, err := metav1.LabelSelectorAsSelector(metric.Selector)
	if err != nil {
		return nil, fmt.Errorf("read the selector: %w", err)
	}
	request := r.external.Get().Namespace(namespace).Resource(metric.Name)
	if metric.Selector != nil {
		request = request.Param("labelSelector", wanted.String())
	}
	list := &valueList{}
	if err := fetch(ctx, request, list); err != nil {
		return nil, fmt.Errorf("unable to fetch metrics from external metrics API: %w", err)
	}
	if len(list.Items) == 0 {
		return nil, errors.New("no metrics returned from external metrics API")
	}
	values := make([]int64, 0, len(list.Items))
	for _, item := range list.Items {
		values = append(values, item.Value.MilliValue())
	}
	return values, nil
}
