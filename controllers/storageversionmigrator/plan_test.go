package storageversionmigrator

import (
	"errors"
	"testing"
	"time"

	migrationv1 "k8s.io/api/storagemigration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func migration(name string, age time.Duration, version string, conditions ...migrationv1.MigrationConditionType) migrationv1.StorageVersionMigration {
	m := migrationv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1000000, 0).Add(-age))}}
	m.Spec.Resource = metav1.GroupResource{Resource: "configmaps"}
	m.Status.ResourceVersion = version
	for _, c := range conditions {
		set(&m, c, "Why", "because")
	}
	return m
}

func TestNext(t *testing.T) {
	t.Parallel()
	const running, succeeded, failed = migrationv1.MigrationRunning, migrationv1.MigrationSucceeded, migrationv1.MigrationFailed
	foreign := migration("z", time.Hour, "", running)
	foreign.Spec.Resource.Resource = "secrets"
	for name, c := range map[string]struct {
		m      migrationv1.StorageVersionMigration
		others []migrationv1.StorageVersionMigration
		want   Step
	}{
		"new":                      {migration("m", 0, ""), nil, Begin},
		"one runs":                 {migration("m", 0, ""), []migrationv1.StorageVersionMigration{migration("n", 0, "", running)}, Wait},
		"one is older":             {migration("m", 0, ""), []migrationv1.StorageVersionMigration{migration("n", time.Hour, "")}, Wait},
		"one is younger":           {migration("m", time.Hour, ""), []migrationv1.StorageVersionMigration{migration("n", 0, "")}, Begin},
		"one is over":              {migration("m", 0, ""), []migrationv1.StorageVersionMigration{migration("n", time.Hour, "", succeeded)}, Begin},
		"one is of something else": {migration("m", 0, ""), []migrationv1.StorageVersionMigration{foreign}, Begin},
		"runs":                     {migration("m", 0, "", running), nil, Mark},
		"knows the version":        {migration("m", 0, "7", running), nil, Migrate},
		"succeeded":                {migration("m", 0, "7", running, succeeded), nil, End},
		"failed":                   {migration("m", 0, "7", failed), nil, Wait},
	} {
		if got := Next(&c.m, append(c.others, c.m)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"The migration is running":                                                    progress(0, 0, nil),
		"The migration is running, 2/3 objects not yet migrated":                      progress(2, 3, nil),
		"The migration is running, 3 objects verified migrated":                       progress(0, 3, nil),
		"The migration is running, 1/3 objects not yet migrated; transient error: no": progress(1, 3, errors.New("no")),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if is, err := old("7", "7"); !is || err != nil {
		t.Error("7 is as old as 7")
	}
	if is, err := old("10", "9"); is || err != nil {
		t.Error("10 is younger than 9")
	}
	if _, err := old("x", "9"); err == nil {
		t.Error("x is no version")
	}
}
