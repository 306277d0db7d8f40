package storageversionmigrator

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	migrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Step is what a migration needs next.
type Step int

// The steps, in order.
const (
	// Wait: another migration of the resource is before it, or it is over.
	Wait Step = iota
	// Begin: say that it runs.
	Begin
	// Mark the version up to which objects are old.
	Mark
	// Migrate the objects.
	Migrate
	// End: say that it no longer runs.
	End
)

func holds(m *migrationv1.StorageVersionMigration, kind migrationv1.MigrationConditionType) bool {
	return meta.IsStatusConditionTrue(m.Status.Conditions, string(kind))
}

func over(m *migrationv1.StorageVersionMigration) bool {
	return holds(m, migrationv1.MigrationSucceeded) || holds(m, migrationv1.MigrationFailed)
}

// Next says what a migration needs, given all there are.
func Next(m *migrationv1.StorageVersionMigration, all []migrationv1.StorageVersionMigration) Step {
	running := holds(m, migrationv1.MigrationRunning)
	switch {
	case over(m) && running:
		return End
	case over(m):
		return Wait
	case running && m.Status.ResourceVersion == "":
		return Mark
	case running:
		return Migrate
	}
	for i := range all {
		other := &all[i]
		if other.Spec.Resource != m.Spec.Resource || other.Name == m.Name || over(other) {
			continue
		}
		if holds(other, migrationv1.MigrationRunning) || before(other, m) {
			return Wait
		}
	}
	return Begin
}

func before(a, b *migrationv1.StorageVersionMigration) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Name, b.Name)) < 0
}

// old says that an object of a version was written at or before the mark.
func old(version, mark string) (bool, error) {
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return false, fmt.Errorf("read resource version: %w", err)
	}
	m, err := strconv.ParseUint(mark, 10, 64)
	if err != nil {
		return false, fmt.Errorf("read resource version: %w", err)
	}
	return v <= m, nil
}

// progress is what the condition Running says while left of all objects aren't migrated.
func progress(left, all int, trouble error) string {
	text := "The migration is running"
	switch {
	case all > 0 && left > 0:
		text += fmt.Sprintf(", %d/%d objects not yet migrated", left, all)
	case all > 0:
		text += fmt.Sprintf(", %d objects verified migrated", all)
	}
	if trouble != nil {
		text += fmt.Sprintf("; transient error: %s", trouble)
	}
	return text
}

// Reasons of conditions.
const (
	reasonRunning   = "MigrationRunning"
	reasonSucceeded = "StorageVersionMigrationSucceeded"
	reasonFailed    = "StorageVersionMigrationFailed"
)

func set(m *migrationv1.StorageVersionMigration, kind migrationv1.MigrationConditionType, reason, message string) {
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: string(kind), Status: metav1.ConditionTrue, Reason: reason, Message: message})
}

// ended says that a migration no longer runs.
func ended(m *migrationv1.StorageVersionMigration) {
	meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{
		Type: string(migrationv1.MigrationRunning), Status: metav1.ConditionFalse, Reason: "MigrationCompleted",
		Message: "Migration completed", ObservedGeneration: m.Generation,
	})
}
