package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/kogge-dev/kogge/examples/backup/api/v1"
)

// Time is a time of the day, on every day or on one of the week.
type Time struct {
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=23
	Hour int32 `json:"hour"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=59
	// +optional
	Minute int32 `json:"minute,omitempty"`
	// Weekday counts from Sunday, which is 0; nil: every day.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=6
	// +optional
	Weekday *int32 `json:"weekday,omitempty"`
}

// BackupSpec says what is copied, and when.
type BackupSpec struct {
	// Volume is the name of the PersistentVolumeClaim that is copied.
	// +kubebuilder:validation:MinLength=1
	Volume string `json:"volume"`
	// At says when; without it at three in the morning.
	// +optional
	At *Time `json:"at,omitempty"`
	// +optional
	Keep *int32 `json:"keep,omitempty"`
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`
}

// Backup is a claim that is copied.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Volume",type=string,JSONPath=`.spec.volume`
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec      `json:"spec"`
	Status v1.BackupStatus `json:"status,omitempty"`
}

// BackupList is a list of Backups.
//
// +kubebuilder:object:root=true
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Backup `json:"items"`
}
