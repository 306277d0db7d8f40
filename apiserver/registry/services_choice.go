package registry

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/resources/core"
)

// portChoice completes the node ports of one Service, and takes what it has not had.
type portChoice struct {
	service *corev1.Service
	taken   *portSet
	dryRun  bool
	ports   []int // taken here
}

func (c *portChoice) choose(was *corev1.Service, created bool) error {
	if core.NeedsNodePorts(c.service) {
		choose := c.forUpdate
		if created {
			choose = c.forCreate
		}
		if err := choose(portNumbers(was)); err != nil {
			return err
		}
	}
	if core.NeedsHealthCheck(c.service) && !core.NeedsHealthCheck(was) {
		return c.healthCheck()
	}
	return nil
}

// forCreate gives ports of one number, such as those of two protocols, one node port.
func (c *portChoice) forCreate([]int) error {
	ports := c.service.Spec.Ports
	given := map[int32]int32{} // node ports by port
	for i := range ports {
		p := &ports[i]
		if n := given[p.Port]; n != 0 {
			if p.NodePort == 0 {
				p.NodePort = n
			}
			if p.NodePort != n {
				if err := c.take(i, p.NodePort); err != nil {
					return err
				}
			}
			continue
		}
		// One further behind may ask for a certain one.
		if wanted := slices.IndexFunc(ports, func(o corev1.ServicePort) bool { return o.Port == p.Port && o.NodePort != 0 }); wanted >= 0 {
			if err := c.take(i, ports[wanted].NodePort); err != nil {
				return err
			}
			p.NodePort = ports[wanted].NodePort
		} else if err := c.takeAny(p); err != nil {
			return err
		}
		given[p.Port] = p.NodePort
	}
	return nil
}

// forUpdate keeps what the Service had.
func (c *portChoice) forUpdate(had []int) error {
	ports := c.service.Spec.Ports
	for i := range ports {
		p := &ports[i]
		switch {
		case p.NodePort == 0:
			if err := c.takeAny(p); err != nil {
				return err
			}
		case slices.Contains(had, int(p.NodePort)), slices.Contains(c.ports, int(p.NodePort)):
		default:
			if err := c.take(i, p.NodePort); err != nil {
				return err
			}
		}
	}
	return nil
}

// take reserves the node port that the i-th port asks for.
func (c *portChoice) take(i int, n int32) error {
	if err := c.reserve(int(n)); err != nil {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), c.service.Name, field.ErrorList{
			field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), n, err.Error())})
	}
	return nil
}

func (c *portChoice) reserve(n int) error {
	err := c.taken.take(n)
	if c.dryRun && !c.taken.contains(n) {
		err = nil // a genuine server looks at the range only when it takes something
	}
	if err == nil {
		c.ports = append(c.ports, n)
	}
	return err
}

func (c *portChoice) takeAny(p *corev1.ServicePort) error {
	n, err := c.any()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
	}
	p.NodePort = int32(n)
	return nil
}

// dryRunPort is the number below those that dry runs show.
const dryRunPort = 32768

// any finds a port that is free. A dry run shows the number after those of this Service: looking for a free one would
// promise something.
func (c *portChoice) any() (int, error) {
	n, err := dryRunPort+1, error(nil)
	switch {
	case !c.dryRun:
		n, err = c.taken.takeAny()
	case len(c.ports) > 0:
		n = slices.Max(c.ports) + 1
	}
	if err == nil {
		c.ports = append(c.ports, n)
	}
	return n, err
}

// healthCheck takes the port on which a balancer asks nodes.
func (c *portChoice) healthCheck() error {
	n := &c.service.Spec.HealthCheckNodePort
	if *n != 0 {
		if err := c.reserve(int(*n)); err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %w", *n, err))
		}
		return nil
	}
	free, err := c.any()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %w", *n, err))
	}
	*n = int32(free)
	return nil
}
