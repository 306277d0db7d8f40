package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditions of a Backup.
const (
	// ConditionAvailable says whether the store, which keeps the copies, can be reached.
	ConditionAvailable = "Available"
	// ConditionCopied says whether the first copy was made.
	ConditionCopied = "Copied"
)

// Finalizer holds a Backup until its copies are forgotten.
const Finalizer = "backup.example.com/copies"

// BackupSpec says what is copied, and when.
type BackupSpec struct {
	// Claim is the name of the PersistentVolumeClaim that is copied. It can't be changed.
	// +kubebuilder:validation:MinLength=1
	Claim string `json:"claim"`
	// Schedule says when, as cron(5) does; without it daily, at three in the morning.
	// +optional
	Schedule string `json:"schedule,omitempty"`
	// Keep is how many copies are kept; without it seven.
	// +kubebuilder:validation:Minimum=1
	// +optional
	Keep *int32 `json:"keep,omitempty"`
	// Suspend makes no more copies while it is true.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
	// PodAnnotations are given to all pods.
	// +optional
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`
}

// BackupStatus says how far the Backup is.
type BackupStatus struct {
	// ObservedGeneration is the generation that the conditions are about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// FirstCopy is when the first copy was complete.
	// +optional
	FirstCopy *metav1.Time `json:"firstCopy,omitempty"`
	// Conditions are Available and Copied.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Backup is a claim that is copied.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Claim",type=string,JSONPath=`.spec.claim`
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec   `json:"spec"`
	Status BackupStatus `json:"status,omitempty"`
}

// BackupList is a list of Backups.
//
// +kubebuilder:object:root=true
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Backup `json:"items"`
}

// Hub says that conversions go through this version.
func (*Backup) Hub() {}
