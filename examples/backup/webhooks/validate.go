package webhooks

import (
	"context"
	"fmt"

	"github.com/robfig/cron/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// manyCopies are so many that the user is asked whether that is meant.
const manyCopies = 100

// +kubebuilder:webhook:path=/validate-backup-example-com-v1-backup,mutating=false,failurePolicy=fail,sideEffects=None,groups=backup.example.com,resources=backups,verbs=create;update,versions=v1,name=vbackup-v1.example.com,admissionReviewVersions=v1

// Validator refuses Backups that can't be.
type Validator struct{}

// ValidateCreate judges a new one.
func (Validator) ValidateCreate(_ context.Context, b *v1.Backup) (admission.Warnings, error) {
	return warnings(b), invalid(b, validate(b))
}

// ValidateUpdate judges a change.
func (Validator) ValidateUpdate(_ context.Context, before, after *v1.Backup) (admission.Warnings, error) {
	errs := validate(after)
	if before.Spec.Claim != after.Spec.Claim {
		errs = append(errs, field.Invalid(field.NewPath("spec", "claim"), after.Spec.Claim, "can't be changed"))
	}
	return warnings(after), invalid(after, errs)
}

// ValidateDelete lets every one go.
func (Validator) ValidateDelete(context.Context, *v1.Backup) (admission.Warnings, error) {
	return nil, nil
}

func validate(b *v1.Backup) field.ErrorList {
	if _, err := cron.ParseStandard(b.Spec.Schedule); err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "schedule"), b.Spec.Schedule, err.Error())}
	}
	return nil
}

func warnings(b *v1.Backup) admission.Warnings {
	if keep := ptr.Deref(b.Spec.Keep, 0); keep > manyCopies {
		return admission.Warnings{fmt.Sprintf("spec.keep: %d copies take a lot of room", keep)}
	}
	return nil
}

func invalid(b *v1.Backup, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(v1.GroupVersion.WithKind("Backup").GroupKind(), b.Name, errs)
}
