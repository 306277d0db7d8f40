package controllers

import (
	"github.com/kogge-dev/kogge/controllers/bootstraptoken"
	"github.com/kogge-dev/kogge/controllers/certificates"
	"github.com/kogge-dev/kogge/controllers/clusterroleaggregation"
	"github.com/kogge-dev/kogge/controllers/cronjob"
	"github.com/kogge-dev/kogge/controllers/daemonset"
	"github.com/kogge-dev/kogge/controllers/deployment"
	"github.com/kogge-dev/kogge/controllers/disruption"
	"github.com/kogge-dev/kogge/controllers/endpoints"
	"github.com/kogge-dev/kogge/controllers/endpointslice"
	"github.com/kogge-dev/kogge/controllers/endpointslicemirroring"
	"github.com/kogge-dev/kogge/controllers/ephemeralvolume"
	"github.com/kogge-dev/kogge/controllers/garbagecollector"
	"github.com/kogge-dev/kogge/controllers/internal/component"
	"github.com/kogge-dev/kogge/controllers/job"
	"github.com/kogge-dev/kogge/controllers/namespace"
	"github.com/kogge-dev/kogge/controllers/nodeipam"
	"github.com/kogge-dev/kogge/controllers/nodelifecycle"
	"github.com/kogge-dev/kogge/controllers/nodettl"
	"github.com/kogge-dev/kogge/controllers/podautoscaler"
	"github.com/kogge-dev/kogge/controllers/podgc"
	"github.com/kogge-dev/kogge/controllers/policystatus"
	"github.com/kogge-dev/kogge/controllers/replicaset"
	"github.com/kogge-dev/kogge/controllers/replication"
	"github.com/kogge-dev/kogge/controllers/resourceclaim"
	"github.com/kogge-dev/kogge/controllers/resourcequota"
	"github.com/kogge-dev/kogge/controllers/rootca"
	"github.com/kogge-dev/kogge/controllers/serviceaccount"
	"github.com/kogge-dev/kogge/controllers/servicecidr"
	"github.com/kogge-dev/kogge/controllers/statefulset"
	"github.com/kogge-dev/kogge/controllers/storageversionmigrator"
	"github.com/kogge-dev/kogge/controllers/tainteviction"
	"github.com/kogge-dev/kogge/controllers/ttlafterfinished"
	"github.com/kogge-dev/kogge/controllers/volumebinder"
	"github.com/kogge-dev/kogge/controllers/volumeprotection"
)

// all lists the controllers in the order in which a rollout meets them. They depend on
// each other only through the API, so the order means nothing to the machine.
var all = []component.Component{
	deployment.Component,
	replicaset.Component,
	replication.Component,
	daemonset.Component,
	statefulset.Component,
	podautoscaler.Component,
	job.Component,
	cronjob.Component,
	ttlafterfinished.Component,
	endpoints.Component,
	endpointslice.Component,
	endpointslicemirroring.Component,
	servicecidr.Component,
	resourceclaim.Component,
	ephemeralvolume.Component,
	volumebinder.Component,
	volumeprotection.Claims,
	volumeprotection.Volumes,
	volumeprotection.Classes,
	serviceaccount.Component,
	certificates.Approving,
	certificates.Signing,
	certificates.Cleaner,
	bootstraptoken.Signer,
	bootstraptoken.Cleaner,
	rootca.Component,
	resourcequota.Component,
	clusterroleaggregation.Component,
	storageversionmigrator.Component,
	namespace.Component,
	garbagecollector.Component,
	nodeipam.Component,
	nodelifecycle.Component,
	nodettl.Component,
	tainteviction.Component,
	podgc.Component,
	disruption.Component,
	policystatus.Component,
}

// Names lists the controllers by upstream's names, in order.
func Names() []string {
	names := make([]string, 0, len(all))
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}
