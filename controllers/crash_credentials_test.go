package controllers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// askForCertificate is what a kubelet does to get a client certificate for a node.
func (w *world) askForCertificate(name, signer string, usages ...certificatesv1.KeyUsage) {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.do(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:n", Organization: []string{"system:nodes"}}}, key)
	w.do(err)
	w.must(w.client.CertificatesV1().CertificateSigningRequests().Create(w.Context(), &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: w.own(name)},
		Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: signer, Usages: usages,
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})}}, metav1.CreateOptions{}))
}

// crashCertificates has one request that is approved and signed by itself, and one that somebody approved and that can't be.
func crashCertificates(w *world) {
	requests := w.client.CertificatesV1().CertificateSigningRequests()
	w.askForCertificate("kubelet", certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth)
	w.until("it is signed", func(ctx context.Context) (bool, error) {
		r, err := requests.Get(ctx, w.own("kubelet"), metav1.GetOptions{})
		return err == nil && len(r.Status.Certificate) > 0, err
	})
	w.askForCertificate("server", certificatesv1.KubeAPIServerClientSignerName, certificatesv1.UsageServerAuth)
	r, err := requests.Get(w.Context(), w.own("server"), metav1.GetOptions{})
	w.do(err)
	r.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"}}
	w.must(requests.UpdateApproval(w.Context(), r.Name, r, metav1.UpdateOptions{}))
	w.until("it failed", func(ctx context.Context) (bool, error) {
		r, err := requests.Get(ctx, w.own("server"), metav1.GetOptions{})
		return err == nil && len(r.Status.Conditions) == 2, err
	})
}

// crashTokens has the cluster's information signed with a token, until that expires.
func crashTokens(w *world) {
	maps, secrets := w.client.CoreV1().ConfigMaps("kube-public"), w.client.CoreV1().Secrets("kube-system")
	info := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "cluster-info"}, Data: map[string]string{"kubeconfig": w.ns}}
	if _, err := maps.Create(w.Context(), info, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		w.must(maps.Update(w.Context(), info, metav1.UpdateOptions{}))
	}
	token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "bootstrap-token-abcdef"}, Type: "bootstrap.kubernetes.io/token", StringData: map[string]string{
		"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-signing": "true"}}
	w.must(secrets.Create(w.Context(), token, metav1.CreateOptions{}))
	signed := func(want bool) {
		w.Helper()
		w.until("the signature", func(ctx context.Context) (bool, error) {
			m, err := maps.Get(ctx, "cluster-info", metav1.GetOptions{})
			return err == nil && (m.Data["jws-kubeconfig-abcdef"] != "") == want, err
		})
	}
	signed(true)
	token.StringData["expiration"] = time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	w.must(secrets.Update(w.Context(), token, metav1.UpdateOptions{}))
	signed(false)
	w.until("the token is gone", func(ctx context.Context) (bool, error) {
		return missing(secrets.Get(ctx, "bootstrap-token-abcdef", metav1.GetOptions{}))
	})
}

// crashDeviceClaims has a pod on a node whose claims come from a template, and are let go when it ends.
func crashDeviceClaims(w *world) {
	request := resourcev1.DeviceRequest{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "c"}}
	spec := resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{request}}}
	w.must(w.client.ResourceV1().ResourceClaims(w.ns).Create(w.Context(), &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "shared"}, Spec: spec}, metav1.CreateOptions{}))
	shared, err := w.client.ResourceV1().ResourceClaims(w.ns).Get(w.Context(), "shared", metav1.GetOptions{})
	w.do(err)
	shared.Status.Allocation = &resourcev1.AllocationResult{}
	w.must(w.client.ResourceV1().ResourceClaims(w.ns).UpdateStatus(w.Context(), shared, metav1.UpdateOptions{}))
	t := template("p", "app:1")
	t.Spec.NodeName = "absent" // so that the test is its kubelet
	t.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "own", ResourceClaimTemplateName: ptr.To("t")}, {Name: "shared", ResourceClaimName: ptr.To("shared")}}
	pods := w.client.CoreV1().Pods(w.ns)
	w.must(pods.Create(w.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: t.Spec}, metav1.CreateOptions{}))
	// The template comes late.
	w.must(w.client.ResourceV1().ResourceClaimTemplates(w.ns).Create(w.Context(), &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Name: "t"},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: spec}}, metav1.CreateOptions{}))
	has := func(what string, claims, reserved int) {
		w.Helper()
		w.until(what, func(ctx context.Context) (bool, error) {
			list, err := w.client.ResourceV1().ResourceClaims(w.ns).List(ctx, metav1.ListOptions{})
			p, podErr := pods.Get(ctx, "p", metav1.GetOptions{})
			if err != nil || podErr != nil {
				return false, errors.Join(err, podErr)
			}
			n := 0
			for _, claim := range list.Items {
				n += len(claim.Status.ReservedFor)
			}
			return len(list.Items) == claims && n == reserved && len(p.Status.ResourceClaimStatuses) == 1, nil
		})
	}
	has("the pod has its claims", 2, 1)
	w.must(pods.Patch(w.Context(), "p", types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`), metav1.PatchOptions{}, "status"))
	has("nothing is held any more", 1, 0)
}
