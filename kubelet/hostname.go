package kubelet

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// maxHostname is the kernel's limit.
const maxHostname = 63

// hostname returns the pod's name for itself and the domain that it is in; "" when it is in none.
func (k *Kubelet) hostname(pod *v1.Pod) (name, domain string, err error) {
	if pod.Spec.HostnameOverride != nil {
		name, err = shortened(pod, *pod.Spec.HostnameOverride)
		return name, "", err
	}
	name = pod.Name
	if pod.Spec.Hostname != "" {
		name = pod.Spec.Hostname
	}
	if pod.Spec.Subdomain != "" {
		domain = fmt.Sprintf("%s.%s.svc.%s", pod.Spec.Subdomain, pod.Namespace, k.options.ClusterDomain)
	}
	name, err = shortened(pod, name)
	return name, domain, err
}

// kernelHostname is what the kernel is told: the name, or the whole domain name if the pod wants that.
func (k *Kubelet) kernelHostname(pod *v1.Pod) (string, error) {
	name, domain, err := k.hostname(pod)
	if err != nil || domain == "" || pod.Spec.SetHostnameAsFQDN == nil || !*pod.Spec.SetHostnameAsFQDN {
		return name, err
	}
	full := name + "." + domain
	if len(full) > maxHostname+1 {
		return "", fmt.Errorf("failed to construct FQDN from pod hostname and cluster domain, FQDN %s is too long (%d characters is the max, %d characters requested)", full, maxHostname+1, len(full))
	}
	return full, nil
}

func shortened(pod *v1.Pod, name string) (string, error) {
	if len(name) <= maxHostname {
		return name, nil
	}
	name = strings.TrimRight(name[:maxHostname], "-.")
	if name == "" {
		return "", fmt.Errorf("hostname for pod %q was invalid: %q", pod.Name, name)
	}
	return name, nil
}
