package podautoscaler

import (
	"errors"
	"fmt"
	"math"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Reading is what was read of one metric.
type Reading struct {
	// Samples are the pods', for metrics of pods.
	Samples Samples
	// Value is an object's, in thousandths; Values are those of an external metric.
	Value  int64
	Values []int64
	Err    error
}

// proposal is what one metric says.
type proposal struct {
	replicas int32
	// metric names it in events and conditions.
	metric string
	status autoscalingv2.MetricStatus
}

// failure is a metric that says nothing.
type failure struct {
	// reason of the condition, and of the event, whose message is detail.
	reason string
	detail error
	// err says it with what it was about.
	err error
}

// propose asks one metric for a number of pods.
func propose(o *Observed, spec *autoscalingv2.MetricSpec, reading Reading) (proposal, *failure) {
	var p proposal
	var err error
	reason, about := "", ""
	p.status.Type = spec.Type
	switch spec.Type {
	case autoscalingv2.ResourceMetricSourceType:
		reason, about = "FailedGetResourceMetric", fmt.Sprintf("failed to get %s resource metric value", spec.Resource.Name)
		var current autoscalingv2.MetricValueStatus
		current, err = p.resource(o, spec.Resource.Name, spec.Resource.Target, "", reading)
		p.status.Resource = &autoscalingv2.ResourceMetricStatus{Name: spec.Resource.Name, Current: current}
	case autoscalingv2.ContainerResourceMetricSourceType:
		source := spec.ContainerResource
		reason, about = "FailedGetContainerResourceMetric", fmt.Sprintf("failed to get %s container metric value", source.Container)
		var current autoscalingv2.MetricValueStatus
		current, err = p.resource(o, source.Name, source.Target, source.Container, reading)
		p.status.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: source.Name, Container: source.Container, Current: current}
	case autoscalingv2.PodsMetricSourceType:
		reason, about = "FailedGetPodsMetric", "failed to get pods metric value"
		err = p.pods(o, spec.Pods, reading)
	case autoscalingv2.ObjectMetricSourceType:
		reason, about = "FailedGetObjectMetric", "failed to get object metric value"
		err = p.object(o, spec.Object, reading)
	case autoscalingv2.ExternalMetricSourceType:
		reason, about = "FailedGetExternalMetric", fmt.Sprintf("failed to get %s external metric value", spec.External.Metric.Name)
		err = p.external(o, spec.External, reading)
	default:
		err = fmt.Errorf("unknown metric source type %q", string(spec.Type))
		return p, &failure{"InvalidMetricSourceType", err, err}
	}
	var inner *described
	switch {
	case errors.As(err, &inner):
		return p, &failure{reason, inner.error, fmt.Errorf("%s: %s: %w", about, inner.about, inner.error)}
	case err != nil:
		return p, &failure{reason, err, fmt.Errorf("%s: %w", about, err)}
	}
	return p, nil
}

// described is an error whose event and condition don't say what it was about, unlike the
// error of the whole.
type described struct {
	error
	about string
}

// resource is about CPU or memory of pods, or of one container in each.
func (p *proposal) resource(o *Observed, name corev1.ResourceName, target autoscalingv2.MetricTarget, container string, reading Reading) (current autoscalingv2.MetricValueStatus, err error) {
	what := "utilization"
	if target.AverageValue != nil {
		what = "usage"
	}
	wrap := func(err error) error { return fmt.Errorf("failed to get %s %s: %w", name, what, err) }
	if target.AverageValue == nil && target.AverageUtilization == nil {
		return current, errors.New("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set")
	}
	if reading.Err != nil {
		return current, wrap(fmt.Errorf("unable to get metrics for resource %s: %w", name, reading.Err))
	}
	format := resource.DecimalSI
	if name == corev1.ResourceMemory {
		format = resource.BinarySI
	}
	_, _, _, trusted := group(o.Pods, reading.Samples, name, o.Now)
	if target.AverageValue != nil {
		p.metric = fmt.Sprintf("%s resource", name)
		p.replicas, err = replicasBy(byUsage(target.AverageValue.MilliValue()), o.Current, o.Pods, reading.Samples, name, o.tolerance(), o.Now)
		if err != nil {
			return current, wrap(err)
		}
		current.AverageValue = resource.NewMilliQuantity(averageOf(trusted), format)
		return current, nil
	}
	p.metric = fmt.Sprintf("%s resource utilization (percentage of request)", name)
	if container != "" {
		p.metric = fmt.Sprintf("%s container resource utilization (percentage of request)", name)
	}
	if len(o.Pods) == 0 {
		return current, wrap(errNoPods)
	}
	requests, err := requestsOf(o.Pods, container, name)
	if len(trusted) > 0 && err != nil {
		return current, wrap(err)
	}
	p.replicas, err = replicasBy(byUtilization(requests, *target.AverageUtilization), o.Current, o.Pods, reading.Samples, name, o.tolerance(), o.Now)
	if err != nil {
		return current, wrap(err)
	}
	percent, average, err := utilizationOf(trusted, requests)
	if err != nil {
		return current, wrap(err)
	}
	current.AverageUtilization, current.AverageValue = &percent, resource.NewMilliQuantity(average, format)
	return current, nil
}

func (p *proposal) pods(o *Observed, source *autoscalingv2.PodsMetricSource, reading Reading) (err error) {
	if reading.Err != nil {
		return fmt.Errorf("unable to get metric %s: %w", source.Metric.Name, reading.Err)
	}
	p.metric = fmt.Sprintf("pods metric %s", source.Metric.Name)
	p.replicas, err = replicasBy(byUsage(source.Target.AverageValue.MilliValue()), o.Current, o.Pods, reading.Samples, "", o.tolerance(), o.Now)
	if err != nil {
		return err
	}
	_, _, _, trusted := group(o.Pods, reading.Samples, "", o.Now)
	p.status.Pods = &autoscalingv2.PodsMetricStatus{Metric: source.Metric, Current: autoscalingv2.MetricValueStatus{
		AverageValue: resource.NewMilliQuantity(averageOf(trusted), resource.DecimalSI)}}
	return nil
}

func (p *proposal) object(o *Observed, source *autoscalingv2.ObjectMetricSource, reading Reading) (err error) {
	if reading.Err != nil {
		err := fmt.Errorf("unable to get metric %s on %s %s/%s: %w", source.Metric.Name, source.DescribedObject.Kind, o.Autoscaler.Namespace, source.DescribedObject.Name, reading.Err)
		if source.Target.Type == autoscalingv2.AverageValueMetricType {
			return &described{err, fmt.Sprintf("failed to get %s object metric", source.Metric.Name)}
		}
		return err
	}
	p.status.Object = &autoscalingv2.ObjectMetricStatus{Metric: source.Metric, DescribedObject: source.DescribedObject}
	switch target := source.Target; {
	case target.Type == autoscalingv2.ValueMetricType && target.Value != nil:
		p.metric = fmt.Sprintf("%s metric %s", source.DescribedObject.Kind, source.Metric.Name)
		p.replicas, err = replicasByRatio(float64(reading.Value)/float64(target.Value.MilliValue()), o.Current, o.Pods, o.tolerance())
		p.status.Object.Current.Value = resource.NewMilliQuantity(reading.Value, resource.DecimalSI)
		return err
	case target.Type == autoscalingv2.AverageValueMetricType && target.AverageValue != nil:
		var average int64
		p.metric = fmt.Sprintf("external metric %s(%+v)", source.Metric.Name, source.Metric.Selector)
		p.replicas, average = replicasByShare(reading.Value, target.AverageValue.MilliValue(), o.Running, o.tolerance())
		p.status.Object.Current.AverageValue = resource.NewMilliQuantity(average, resource.DecimalSI)
		return nil
	}
	return errors.New("invalid object metric source: neither a value target nor an average value target was set")
}

func (p *proposal) external(o *Observed, source *autoscalingv2.ExternalMetricSource, reading Reading) (err error) {
	p.metric = fmt.Sprintf("external metric %s(%+v)", source.Metric.Name, source.Metric.Selector)
	p.status.External = &autoscalingv2.ExternalMetricStatus{Metric: source.Metric}
	averaged := source.Target.AverageValue != nil
	if !averaged && source.Target.Value == nil {
		return errors.New("invalid external metric source: neither a value target nor an average value target was set")
	}
	if reading.Err != nil {
		err := fmt.Errorf("unable to get external metric %s/%s/%+v: %w", o.Autoscaler.Namespace, source.Metric.Name, source.Metric.Selector, reading.Err)
		if averaged {
			return &described{err, fmt.Sprintf("failed to get %s external metric", source.Metric.Name)}
		}
		return &described{err, fmt.Sprintf("failed to get external metric %s", source.Metric.Name)}
	}
	sum := int64(0)
	for _, value := range reading.Values {
		if value > 0 && sum > math.MaxInt64-value {
			sum = math.MaxInt64
			break
		}
		sum += value
	}
	if averaged {
		var average int64
		p.replicas, average = replicasByShare(sum, source.Target.AverageValue.MilliValue(), o.Running, o.tolerance())
		p.status.External.Current.AverageValue = resource.NewMilliQuantity(average, resource.DecimalSI)
		return nil
	}
	p.replicas, err = replicasByRatio(float64(sum)/float64(source.Target.Value.MilliValue()), o.Current, o.Pods, o.tolerance())
	p.status.External.Current.Value = resource.NewMilliQuantity(sum, resource.DecimalSI)
	return err
}
