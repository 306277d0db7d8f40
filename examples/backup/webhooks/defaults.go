package webhooks

import (
	"cmp"
	"context"

	"k8s.io/utils/ptr"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// What a Backup has that doesn't say.
const (
	DefaultSchedule = "0 3 * * *"
	DefaultKeep     = 7
)

// +kubebuilder:webhook:path=/mutate-backup-example-com-v1-backup,mutating=true,failurePolicy=fail,sideEffects=None,groups=backup.example.com,resources=backups,verbs=create;update,versions=v1,name=mbackup-v1.example.com,admissionReviewVersions=v1

// Defaulter fills in what a Backup doesn't say.
type Defaulter struct{}

// Default fills it in.
func (Defaulter) Default(_ context.Context, b *v1.Backup) error {
	b.Spec.Schedule = cmp.Or(b.Spec.Schedule, DefaultSchedule)
	if b.Spec.Keep == nil {
		b.Spec.Keep = ptr.To[int32](DefaultKeep)
	}
	return nil
}
