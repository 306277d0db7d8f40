package storage

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/features"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/kogge-dev/kogge/apiserver/internal/store/cache"
)

// suite is one of upstream's, with what it runs on.
type suite struct {
	name string
	// onStore, onCache: whether it runs there.
	onStore, onCache bool
	// cluster: its pods have no namespace.
	cluster bool
	run     func(ctx context.Context, t *testing.T, w *world)
}

// plain is a suite that wants nothing but a store.
func plain(f func(context.Context, *testing.T, storage.Interface)) func(context.Context, *testing.T, *world) {
	return func(ctx context.Context, t *testing.T, w *world) { f(ctx, t, w) }
}

// newest lists at the newest version where any is asked for: a cache gives no pages of just any state, neither ours nor upstream's.
type newest struct{ *world }

func (n newest) GetList(ctx context.Context, key string, o storage.ListOptions, out runtime.Object) error {
	if o.ResourceVersion == "0" {
		o.ResourceVersion = ""
	}
	return n.world.GetList(ctx, key, o, out)
}

// notRun are the suites that are not run, and why.
var notRun = map[string]string{}

// writes are the suites about single objects.
var writes = []suite{
	{name: "Create", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) { storagetesting.RunTestCreate(ctx, t, w, w.stored) }},
	{name: "CreateWithTTL", onStore: true, onCache: true, run: plain(storagetesting.RunTestCreateWithTTL)},
	{name: "CreateWithKeyExist", onStore: true, onCache: true, run: plain(storagetesting.RunTestCreateWithKeyExist)},
	{name: "Get", onStore: true, onCache: true, run: plain(storagetesting.RunTestGet)},
	{name: "UnconditionalDelete", onStore: true, onCache: true, run: plain(storagetesting.RunTestUnconditionalDelete)},
	{name: "ConditionalDelete", onStore: true, onCache: true, run: plain(storagetesting.RunTestConditionalDelete)},
	{name: "DeleteWithSuggestion", onStore: true, onCache: true, run: plain(storagetesting.RunTestDeleteWithSuggestion)},
	{name: "DeleteWithSuggestionAndConflict", onStore: true, onCache: true, run: plain(storagetesting.RunTestDeleteWithSuggestionAndConflict)},
	{name: "DeleteWithConflict", onStore: true, onCache: true, run: plain(storagetesting.RunTestDeleteWithConflict)},
	{name: "DeleteWithSuggestionOfDeletedObject", onStore: true, onCache: true, run: plain(storagetesting.RunTestDeleteWithSuggestionOfDeletedObject)},
	{name: "ValidateDeletionWithSuggestion", onStore: true, onCache: true, run: plain(storagetesting.RunTestValidateDeletionWithSuggestion)},
	{name: "ValidateDeletionWithOnlySuggestionValid", onStore: true, onCache: true, run: plain(storagetesting.RunTestValidateDeletionWithOnlySuggestionValid)},
	{name: "PreconditionalDeleteWithSuggestion", onStore: true, onCache: true, run: plain(storagetesting.RunTestPreconditionalDeleteWithSuggestion)},
	{name: "PreconditionalDeleteWithOnlySuggestionPass", onStore: true, onCache: true, run: plain(storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass)},
	{name: "DeleteWithConflictAndMissingExpectedTransformOrDecodeError", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, w, w.fail)
	}},
	{name: "DeleteExpectedTransformOrDecodeError", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, w, w.fail)
	}},
	{name: "DeleteWithSuggestionAndMissingExpectedTransformOrDecodeError", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, w)
	}},
	{name: "GuaranteedUpdate", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestGuaranteedUpdate(ctx, t, w, w.stored)
	}},
	{name: "GuaranteedUpdateWithTTL", onStore: true, onCache: true, run: plain(storagetesting.RunTestGuaranteedUpdateWithTTL)},
	{name: "GuaranteedUpdateChecksStoredData", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestGuaranteedUpdateChecksStoredData(ctx, t, w)
	}},
	{name: "GuaranteedUpdateWithConflict", onStore: true, onCache: true, run: plain(storagetesting.RunTestGuaranteedUpdateWithConflict)},
	{name: "GuaranteedUpdateWithSuggestionAndConflict", onStore: true, onCache: true, run: plain(storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict)},
	{name: "TransformationFailure", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestTransformationFailure(ctx, t, w)
	}},
	{name: "KeySchema", onStore: true, onCache: true, run: plain(storagetesting.RunTestKeySchema)},
	{name: "Stats", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		w.form.set(identity.NewEncryptCheckTransformer())
		w.sizes = true
		storagetesting.RunTestStats(ctx, t, w, w.form.codec, identity.NewEncryptCheckTransformer(), true)
	}},
}

// lists are the suites about lists.
var lists = []suite{
	{name: "List", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestList(ctx, t, w, w.compact, false, nil)
	}},
	{name: "List", onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestList(ctx, t, w, w.compact, true, storagetesting.NewKubernetesRecorder(nil))
	}},
	{name: "ConsistentList", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestConsistentList(ctx, t, w, w.increase, false, true, false)
	}},
	{name: "GetListNonRecursive", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestGetListNonRecursive(ctx, t, w.increase, w)
	}},
	{name: "GetListRecursivePrefix", onStore: true, onCache: true, run: plain(storagetesting.RunTestGetListRecursivePrefix)},
	{name: "GetListWithErrorAggregation", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestGetListWithErrorAggregation(ctx, t, w, &cache.UnreadableError{Err: errFailed})
	}},
	{name: "GetListWithoutErrorAggregation", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestGetListWithoutErrorAggregation(ctx, t, w, errFailed)
	}},
	{name: "ListPaging", onStore: true, onCache: true, run: plain(storagetesting.RunTestListPaging)},
	{name: "ListContinuation", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListContinuation(ctx, t, w, uncounted)
	}},
	{name: "ListPaginationRareObject", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListPaginationRareObject(ctx, t, w, uncounted)
	}},
	{name: "ListContinuationWithFilter", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListContinuationWithFilter(ctx, t, w, uncounted)
	}},
	{name: "ListInconsistentContinuation", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListInconsistentContinuation(ctx, t, w, w.compact)
	}},
	{name: "ListInconsistentContinuation", onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListInconsistentContinuation(ctx, t, newest{w}, w.compactAndForget)
	}},
	{name: "ListResourceVersionMatch", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestListResourceVersionMatch(ctx, t, w)
	}},
	{name: "NamespaceScopedList", onStore: true, onCache: true, run: plain(storagetesting.RunTestNamespaceScopedList)},
	{name: "CompactRevision", onStore: true, onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestCompactRevision(ctx, t, w, w.increase, w.compact)
	}},
}

// watches are the suites about watches.
var watches = []suite{
	{name: "Watch", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatch)},
	{name: "WatchFromZero", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestWatchFromZero(ctx, t, w, w.compact)
	}},
	{name: "WatchFromZero", onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestWatchFromZero(ctx, t, w, w.compactAndForget)
	}},
	{name: "DeleteTriggerWatch", onStore: true, onCache: true, run: plain(storagetesting.RunTestDeleteTriggerWatch)},
	{name: "WatchFromNonZero", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatchFromNonZero)},
	{name: "DelayedWatchDelivery", onStore: true, onCache: true, run: plain(storagetesting.RunTestDelayedWatchDelivery)},
	{name: "WatchError", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) { storagetesting.RunTestWatchError(ctx, t, w) }},
	{name: "WatchContextCancel", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatchContextCancel)},
	{name: "WatcherTimeout", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatcherTimeout)},
	{name: "WatchDeleteEventObjectHaveLatestRV", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV)},
	{name: "WatchInitializationSignal", onStore: true, onCache: true, run: plain(storagetesting.RunTestWatchInitializationSignal)},
	{name: "ProgressNotify", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunOptionalTestProgressNotify(ctx, t, w, w.increase)
	}},
	{name: "ClusterScopedWatch", onStore: true, onCache: true, cluster: true, run: plain(storagetesting.RunTestClusterScopedWatch)},
	{name: "NamespaceScopedWatch", onStore: true, onCache: true, run: plain(storagetesting.RunTestNamespaceScopedWatch)},
	{name: "WatchWithUnsafeDelete", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestWatchWithUnsafeDelete(ctx, t, w, &cache.UnreadableError{Err: errFailed})
	}},
	{name: "WatchDispatchBookmarkEvents", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, w, false)
	}},
	{name: "WatchDispatchBookmarkEvents", onCache: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, w, true)
	}},
	{name: "WatchBookmarksWithCorrectResourceVersion", onCache: true, run: plain(storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion)},
	{name: "SendInitialEventsBackwardCompatibility", onStore: true, onCache: true, run: plain(storagetesting.RunSendInitialEventsBackwardCompatibility)},
	{name: "WatchSemantics", onStore: true, onCache: true, run: plain(storagetesting.RunWatchSemantics)},
	{name: "WatchSemanticInitialEventsExtended", onStore: true, onCache: true, run: plain(storagetesting.RunWatchSemanticInitialEventsExtended)},
	{name: "WatchListMatchSingle", onStore: true, onCache: true, run: plain(storagetesting.RunWatchListMatchSingle)},
	{name: "WatchErrorIsBlockingFurtherEvents", onStore: true, run: func(ctx context.Context, t *testing.T, w *world) {
		storagetesting.RunWatchErrorIsBlockingFurtherEvents(ctx, t, w)
	}},
}

func runAll(t *testing.T, suites []suite) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.WatchList, true)
	for _, s := range suites {
		cache := onCache
		if s.cluster {
			cache = onClusterCache
		}
		for engine, memory := range map[string]bool{"": false, "/memory": true} {
			if s.onStore {
				t.Run(s.name+"/store"+engine, func(t *testing.T) { s.run(context.Background(), t, onStore(t, memory)) })
			}
			if s.onCache {
				t.Run(s.name+"/cache"+engine, func(t *testing.T) { s.run(context.Background(), t, cache(t, memory)) })
			}
		}
	}
}

func TestWrites(t *testing.T) { runAll(t, writes) }

func TestLists(t *testing.T) { runAll(t, lists) }

func TestWatches(t *testing.T) { runAll(t, watches) }
