package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// values gives quantities as integers of one precision: thousandths, unless one is too large for them.
func values(qs ...resource.Quantity) []int64 {
	out := make([]int64, len(qs))
	milli := true
	for i := range qs {
		out[i] = qs[i].Value()
		milli = milli && out[i] <= resource.MaxMilliValue
	}
	if milli {
		for i := range qs {
			out[i] = qs[i].MilliValue()
		}
	}
	return out
}

// atLeast refuses requests and limits below a minimum.
func atLeast(kind string, name corev1.ResourceName, minimum resource.Quantity, requests, limits corev1.ResourceList) error {
	request, requested := requests[name]
	limit, limited := limits[name]
	v := values(request, limit, minimum)
	switch {
	case !requested:
		return fmt.Errorf("minimum %s usage per %s is %s.  No request is specified", name, kind, minimum.String())
	case v[0] < v[2]:
		return fmt.Errorf("minimum %s usage per %s is %s, but request is %s", name, kind, minimum.String(), request.String())
	case limited && v[1] < v[2]:
		return fmt.Errorf("minimum %s usage per %s is %s, but limit is %s", name, kind, minimum.String(), limit.String())
	}
	return nil
}

// atMost refuses limits and requests above a maximum.
func atMost(kind string, name corev1.ResourceName, maximum resource.Quantity, requests, limits corev1.ResourceList) error {
	request, requested := requests[name]
	limit, limited := limits[name]
	v := values(request, limit, maximum)
	switch {
	case !limited:
		return fmt.Errorf("maximum %s usage per %s is %s.  No limit is specified", name, kind, maximum.String())
	case v[1] > v[2]:
		return fmt.Errorf("maximum %s usage per %s is %s, but limit is %s", name, kind, maximum.String(), limit.String())
	case requested && v[0] > v[2]:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, kind, maximum.String(), request.String())
	}
	return nil
}

// requestAtMost refuses requests above a maximum, where there are no limits.
func requestAtMost(kind string, name corev1.ResourceName, maximum resource.Quantity, requests corev1.ResourceList) error {
	request, requested := requests[name]
	v := values(request, maximum)
	switch {
	case !requested:
		return fmt.Errorf("maximum %s usage per %s is %s.  No request is specified", name, kind, maximum.String())
	case v[0] > v[1]:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, kind, maximum.String(), request.String())
	}
	return nil
}

// ratioAtMost refuses limits that are more than so many times the request.
func ratioAtMost(kind string, name corev1.ResourceName, maximum resource.Quantity, requests, limits corev1.ResourceList) error {
	request, requested := requests[name]
	limit, limited := limits[name]
	v := values(request, limit)
	switch {
	case !requested || v[0] == 0:
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, kind, maximum.String())
	case !limited || v[1] == 0:
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, kind, maximum.String())
	}
	if ratio := float64(v[1]) / float64(v[0]); ratio > maximum.AsApproximateFloat64() {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, kind, maximum.String(), ratio)
	}
	return nil
}
