package storage

import (
	"context"
	"math"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validate/content"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kogge-dev/kogge/apiserver/resource"
	"github.com/kogge-dev/kogge/apiserver/resources/core"
	"github.com/kogge-dev/kogge/apiserver/resources/rules"
)

// Most bytes of what is known of an attached volume, and of an error's message.
const (
	maxAttachmentBytes = 256 * 1024
	maxMessage         = 1024
)

var attachmentDocs = storagev1.VolumeAttachmentSpec{}.SwaggerDoc()

// VolumeAttachment asks for a volume to be attached to a node, and says whether it is.
var VolumeAttachment = resource.Define(resource.Kind[*storagev1.VolumeAttachment]{
	Name:  resource.Name{Group: "storage.k8s.io", Version: "v1", Kind: "VolumeAttachment", Plural: "volumeattachments"},
	List:  &storagev1.VolumeAttachmentList{},
	Store: "volumeattachments",
	Default: func(a *storagev1.VolumeAttachment) {
		if s := a.Spec.Source.InlineVolumeSpec; s != nil {
			core.DefaultVolumeSpec(s)
		}
	},
	Strategy: resource.Strategy[*storagev1.VolumeAttachment]{
		PrepareForCreate: func(_ context.Context, a *storagev1.VolumeAttachment) { a.Status = storagev1.VolumeAttachmentStatus{} },
		PrepareForUpdate: func(_ context.Context, a, old *storagev1.VolumeAttachment) { a.Status = old.Status },
		Validate: func(_ context.Context, a *storagev1.VolumeAttachment) field.ErrorList {
			return validateAttachment(a, true)
		},
		ValidateUpdate: func(_ context.Context, a, old *storagev1.VolumeAttachment) field.ErrorList {
			changed := !equality.Semantic.DeepEqual(a.Spec, old.Spec)
			errs := validateAttachment(a, false)
			if changed {
				errs = append(errs, field.Invalid(specPath, nil, rules.ImmutableText))
			}
			return errs
		},
		ResetFields: []string{"status"},
	},
	Status: &resource.Strategy[*storagev1.VolumeAttachment]{
		PrepareForUpdate: func(_ context.Context, a, old *storagev1.VolumeAttachment) {
			a.Spec = old.Spec
			metav1.ResetObjectMetaForStatus(&a.ObjectMeta, &old.ObjectMeta)
		},
		ValidateUpdate: func(_ context.Context, a, _ *storagev1.VolumeAttachment) field.ErrorList {
			return validateAttachment(a, false)
		},
		ResetFields: []string{"metadata", "spec"},
	},
	ValidateName:  apivalidation.NameIsDNSSubdomain,
	NeedsVersion:  true,
	ReturnDeleted: true,
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		{Name: "Attacher", Type: "string", Format: "name", Description: attachmentDocs["attacher"]},
		resource.Column("PV", "string", storagev1.VolumeAttachmentSource{}.SwaggerDoc()["persistentVolumeName"]),
		resource.Column("Node", "string", attachmentDocs["nodeName"]),
		resource.Column("Attached", "boolean", storagev1.VolumeAttachmentStatus{}.SwaggerDoc()["attached"]),
		resource.AgeColumn,
	},
	Row: func(a *storagev1.VolumeAttachment) []any {
		return []any{a.Name, a.Spec.Attacher, ptr.Deref(a.Spec.Source.PersistentVolumeName, ""), a.Spec.NodeName, a.Status.Attached, resource.AgeOf(a)}
	},
})

func validateAttachment(a *storagev1.VolumeAttachment, created bool) field.ErrorList {
	errs := validateSource(&a.Spec.Source, specPath.Child("source"))
	errs = append(errs, rules.Invalid(specPath.Child("nodeName"), a.Spec.NodeName, apivalidation.NameIsDNSSubdomain(a.Spec.NodeName, false))...)
	size, path := 0, field.NewPath("status")
	for k, v := range a.Status.AttachmentMetadata {
		size += len(k) + len(v)
	}
	if size > maxAttachmentBytes {
		errs = append(errs, field.TooLong(path.Child("attachmentMetadata"), "", maxAttachmentBytes))
	}
	errs = append(errs, validateError(a.Status.AttachError, path.Child("attachError"))...)
	errs = append(errs, validateError(a.Status.DetachError, path.Child("detachError"))...)
	if n := a.Spec.Source.PersistentVolumeName; n != nil {
		errs = append(errs, rules.Invalid(field.NewPath("spec.source.persistentVolumeName"), *n, apivalidation.NameIsDNSSubdomain(*n, false))...)
	}
	if created {
		errs = append(errs, validateAttacher(a.Spec.Attacher, specPath.Child("attacher"))...)
	}
	return errs
}

func validateAttacher(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	errs := rules.Invalid(path, name, content.IsDNS1123Subdomain(strings.ToLower(name)))
	if len(name) > validation.DNS1123LabelMaxLength {
		errs = append(errs, field.TooLong(path, "", validation.DNS1123LabelMaxLength))
	}
	return errs
}

func validateSource(s *storagev1.VolumeAttachmentSource, path *field.Path) field.ErrorList {
	const text = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
	switch {
	case s.InlineVolumeSpec == nil && s.PersistentVolumeName == nil:
		return field.ErrorList{field.Required(path, text)}
	case s.InlineVolumeSpec != nil && s.PersistentVolumeName != nil:
		return field.ErrorList{field.Forbidden(path, text)}
	case s.InlineVolumeSpec != nil:
		return core.ValidateInlineVolume(s.InlineVolumeSpec, path.Child("inlineVolumeSpec"))
	case *s.PersistentVolumeName == "":
		return field.ErrorList{field.Required(path.Child("persistentVolumeName"), "must specify non empty persistentVolumeName")}
	}
	return nil
}

func validateError(e *storagev1.VolumeError, path *field.Path) field.ErrorList {
	if e == nil {
		return nil
	}
	var errs field.ErrorList
	if len(e.Message) > maxMessage {
		errs = append(errs, field.TooLong(path.Child("message"), "", maxMessage))
	}
	if c := e.ErrorCode; c != nil && *c < 0 {
		errs = append(errs, field.Invalid(path.Child("errorCode"), *c, validation.InclusiveRangeError(0, math.MaxInt32)))
	}
	return errs
}
