package apiserver_test

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kogge-dev/kogge/apiserver"
)

// as is a client that is somebody, or acts as somebody.
func as(t *testing.T, s *apiserver.Server, i apiserver.Identity, impersonate rest.ImpersonationConfig) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(&rest.Config{Host: "https://in-process", Transport: s.RoundTripper(i), QPS: -1, Impersonate: impersonate})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRolesAreEnforced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	roles := func(o *apiserver.Options) { o.AuthorizationModes = []string{"Node", "RBAC"} }
	s, stop := startAt(t, dir, roles)
	admin := client(t, s, "application/json")
	ann := as(t, s, apiserver.Identity{Name: "ann"}, rest.ImpersonationConfig{})
	ctx := t.Context()

	_, err := ann.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
	if want := `configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" in the namespace "default"`; err == nil || err.Error() != want {
		t.Errorf("without a role: %v", err)
	}
	if _, err := ann.Discovery().ServerVersion(); err != nil {
		t.Errorf("what everybody may: %v", err)
	}
	bind := func(name, role string) error {
		_, err := admin.RbacV1().RoleBindings("default").Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}, Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "ann"}}}, metav1.CreateOptions{})
		return err
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "keeper"}, Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get", "list", "create"}, APIGroups: []string{""}, Resources: []string{"configmaps"}},
		{Verbs: []string{"get", "create", "update", "delete"}, APIGroups: []string{rbacv1.GroupName}, Resources: []string{"roles", "rolebindings"}}}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := bind("keeps", "keeper"); err != nil {
		t.Fatal(err)
	}
	// The next request already knows.
	if _, err := ann.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{}); err != nil {
		t.Errorf("with a role: %v", err)
	}
	if _, err := ann.CoreV1().ConfigMaps("kube-system").List(ctx, metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("elsewhere: %v", err)
	}
	review, err := ann.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "default", Verb: "get", Resource: "configmaps"}}}, metav1.CreateOptions{})
	if want := `RBAC: allowed by RoleBinding "keeps/default" of ClusterRole "keeper" to User "ann"`; err != nil || review.Status.Reason != want {
		t.Errorf("%+v, %v", review.Status, err)
	}
	all, err := ann.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	if err != nil || all.Status.Incomplete || len(all.Status.ResourceRules) < 4 || len(all.Status.NonResourceRules) == 0 {
		t.Errorf("%+v, %v", all.Status, err)
	}

	// Nobody gives away more than is theirs.
	role := func(verb string) *rbacv1.Role {
		return &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: verb}, Rules: []rbacv1.PolicyRule{{Verbs: []string{verb}, APIGroups: []string{""}, Resources: []string{"configmaps"}}}}
	}
	if _, err := ann.RbacV1().Roles("default").Create(ctx, role("get"), metav1.CreateOptions{}); err != nil {
		t.Errorf("a role of one's own rights: %v", err)
	}
	_, err = ann.RbacV1().Roles("default").Create(ctx, role("delete"), metav1.CreateOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), `roles.rbac.authorization.k8s.io "delete" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:`+"\n"+`{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}`) {
		t.Errorf("a role of more: %v", err)
	}
	given := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "all"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}}
	if _, err := ann.RbacV1().RoleBindings("default").Create(ctx, given, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the administrator's role: %v", err)
	}

	// A role that is missing is told.
	if err := bind("dangling", "nowhere"); err != nil {
		t.Fatal(err)
	}
	if _, err := ann.CoreV1().Secrets("default").List(ctx, metav1.ListOptions{}); err == nil || !strings.HasSuffix(err.Error(), `RBAC: clusterrole.rbac.authorization.k8s.io "nowhere" not found`) {
		t.Errorf("%v", err)
	}

	// A kubelet reads what its pods use.
	kubelet := as(t, s, apiserver.Identity{Name: "system:node:w", Groups: []string{"system:nodes"}}, rest.ImpersonationConfig{})
	if _, err := admin.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = kubelet.CoreV1().Secrets("default").Get(ctx, "s", metav1.GetOptions{})
	if err == nil || !strings.HasSuffix(err.Error(), `in the namespace "default": no relationship found between node 'w' and this object`) {
		t.Errorf("a Secret of no pod: %v", err)
	}
	stop()

	// A restart adds what is missing.
	s, stop = startAt(t, dir, roles)
	admin = client(t, s, "application/json")
	if err := admin.RbacV1().ClusterRoles().Delete(ctx, "view", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().ClusterRoles().Patch(ctx, "edit", "application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	stop()
	s, stop = startAt(t, dir, roles)
	defer stop()
	admin = client(t, s, "application/json")
	if r, err := admin.RbacV1().ClusterRoles().Get(ctx, "view", metav1.GetOptions{}); err != nil || r.AggregationRule == nil {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := admin.RbacV1().ClusterRoles().Get(ctx, "edit", metav1.GetOptions{}); err != nil || r.Labels["rbac.authorization.k8s.io/aggregate-to-admin"] != "true" {
		t.Errorf("%+v, %v", r.Labels, err)
	}
}

func TestImpersonation(t *testing.T) {
	t.Parallel()
	s, stop := startAt(t, t.TempDir(), func(o *apiserver.Options) { o.AuthorizationModes = []string{"RBAC"} })
	defer stop()
	master := apiserver.Identity{Name: "root", Groups: []string{"system:masters"}}
	who := func(i apiserver.Identity, c rest.ImpersonationConfig) (string, error) {
		r, err := as(t, s, i, c).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return "", err
		}
		return r.Status.UserInfo.Username + " " + strings.Join(r.Status.UserInfo.Groups, ",") + strings.Join(r.Status.UserInfo.Extra["a/b"], ","), nil
	}
	for _, c := range []struct {
		to   rest.ImpersonationConfig
		want string
	}{
		{rest.ImpersonationConfig{UserName: "ann"}, "ann system:authenticated"},
		{rest.ImpersonationConfig{UserName: "ann", Groups: []string{"g"}, Extra: map[string][]string{"a/b": {"c"}}}, "ann g,system:authenticatedc"},
		{rest.ImpersonationConfig{UserName: "system:serviceaccount:n:a"}, "system:serviceaccount:n:a system:serviceaccounts,system:serviceaccounts:n,system:authenticated"},
	} {
		if got, err := who(master, c.to); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c.to, got, err)
		}
	}
	if _, err := who(apiserver.Identity{Name: "ann"}, rest.ImpersonationConfig{UserName: "root"}); err == nil || err.Error() != `users "root" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope` {
		t.Errorf("%v", err)
	}
}
