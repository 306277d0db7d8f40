package apiserver_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kogge-dev/kogge/apiserver/internal/store"
)

// TestUnreadableObjects are told, never taken for deleted, and can be removed by who insists.
func TestUnreadableObjects(t *testing.T) {
	t.Parallel()
	dir, ctx := t.TempDir(), t.Context()
	s, stop := startAt(t, dir)
	for _, name := range []string{"good", "bad"} {
		if _, err := client(t, s, "application/json").CoreV1().LimitRanges("default").Create(ctx, &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	const key = "/registry/limitranges/default/bad"
	st, err := store.Open(ctx, store.Options{Dir: dir, UnsafeNoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	page, err := st.Range(ctx, key, key+"\x00", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Update(ctx, key, []byte("garbage"), page.Items[0].Revision, 0); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	s, stop = startAt(t, dir)
	defer stop()

	const path = "/api/v1/namespaces/default/limitranges"
	const unsafe = "?ignoreStoreReadErrorWithClusterBreakingPotential=true"
	const put = `{"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"bad"}}`
	for _, c := range []struct {
		what, method, path, body string
		code                     int
		says                     string
	}{
		{"one that can be read", "GET", path + "/good", "", 200, `"name":"good"`},
		{"the other", "GET", path + "/bad", "", 500, `"message":"Internal error occurred: StorageError: corrupt object, Code: 7, Key: /limitranges/default/bad, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=`},
		{"a list", "GET", path, "", 500, `"message":"failed to read one or more limitranges from the storage: StorageError: corrupt object, Code: 7, Key: /registry/limitranges/default/bad`},
		{"its reason", "GET", path, "", 500, `"reason":"StorageReadError","details":{"name":"list","kind":"limitranges","causes":[{"reason":"UnexpectedServerResponse"`},
		{"of any state", "GET", path + "?resourceVersion=0", "", 500, "StorageReadError"},
		{"of another namespace", "GET", "/api/v1/namespaces/kube-system/limitranges", "", 200, `"items":[]`},
		{"a watch from the beginning", "GET", path + "?watch=1", "", 500, "StorageReadError"},
		{"a change", "PUT", path + "/bad", put, 500, `"message":"object not decodable revision=`},
		{"a new one", "POST", path, put, 409, "already exists"},
		{"a deletion", "DELETE", path + "/bad", "", 500, "Internal error occurred: StorageError: corrupt object"},
		{"an unsafe one of another", "DELETE", path + "/good" + unsafe, "", 409, "unsafe deletion is not allowed because the object is decodable from storage"},
		{"of none", "DELETE", path + "/none" + unsafe, "", 404, "not found"},
		{"of all", "DELETE", path + unsafe, "", 422, "is not allowed with DELETECOLLECTION, try again after removing the option"},
		{"with grace", "DELETE", path + "/bad" + unsafe + "&gracePeriodSeconds=1", "", 422, "cannot be set together with .gracePeriodSeconds"},
		{"that is not meant", "DELETE", path + "/bad" + unsafe + "&dryRun=All", "", 200, `"status":"Success","details":{"name":"bad","kind":"LimitRange"},"code":200`},
		{"still there", "GET", path + "/bad", "", 500, "corrupt object"},
		{"that is", "DELETE", path + "/bad" + unsafe, "", 200, `"status":"Success"`},
		{"gone", "GET", path + "/bad", "", 404, "not found"},
		{"a list again", "GET", path, "", 200, `"name":"good"`},
	} {
		code, _, body := call(t, s, c.method, c.path, "application/json", c.body)
		if code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %s", c.what, code, body)
		}
	}
}
