package apiserver

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kogge-dev/kogge/apiserver/registry"
	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// managedLabel marks APIServices that a server makes of what it serves itself, when it starts.
const managedLabel = "kube-aggregator.kubernetes.io/automanaged"

// groupPriorities are those of upstream's groups, by which clients prefer one to another.
var groupPriorities = map[string]int32{
	"": 18000, "apps": 17800, "events.k8s.io": 17750, "authentication.k8s.io": 17700, "authorization.k8s.io": 17600, "autoscaling": 17500,
	"batch": 17400, "certificates.k8s.io": 17300, "networking.k8s.io": 17200, "policy": 17100, "rbac.authorization.k8s.io": 17000,
	"storage.k8s.io": 16800, "apiextensions.k8s.io": 16700, "admissionregistration.k8s.io": 16700, "scheduling.k8s.io": 16600,
	"coordination.k8s.io": 16500, "node.k8s.io": 16300, "discovery.k8s.io": 16200, "resource.k8s.io": 16200,
	"flowcontrol.apiserver.k8s.io": 16100, "storagemigration.k8s.io": 15800,
}

// versionPriorities are upstream's where they are not 15.
var versionPriorities = map[string]int32{"v1.": 1, "v2.autoscaling": 30, "v1.flowcontrol.apiserver.k8s.io": 21, "v1.resource.k8s.io": 21}

// localServices are the APIServices of the group versions of resources, but of the group of APIServices itself.
func localServices(all []*resource.Resource) []*apiregistrationv1.APIService {
	var out []*apiregistrationv1.APIService
	seen := map[string]bool{}
	for _, r := range all {
		name := r.Version + "." + r.Group
		if seen[name] || r.Group == apiregistrationv1.GroupName {
			continue
		}
		seen[name] = true
		priority := versionPriorities[name]
		if priority == 0 {
			priority = 15
		}
		out = append(out, &apiregistrationv1.APIService{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{managedLabel: "onstart"}},
			Spec:       apiregistrationv1.APIServiceSpec{Group: r.Group, Version: r.Version, GroupPriorityMinimum: groupPriorities[r.Group], VersionPriority: priority},
		})
	}
	return out
}

// registerGroups makes the APIServices that are not there. Nobody waits for them, so that starting doesn't.
func (s *Server) registerGroups(ctx context.Context, all []*resource.Resource) error {
	reg := s.handlers.Registry(apiregistrationv1.SchemeGroupVersion.WithResource("apiservices"))
	ctx = request.WithUser(ctx, &request.User{Name: loopback.Name, Groups: loopback.Groups})
	for _, service := range localServices(all) {
		if _, err := reg.Get(ctx, "", service.Name, "0"); err == nil {
			continue
		}
		if _, err := reg.Create(ctx, "", service, registry.WriteOptions{Manager: "kube-apiserver"}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}
