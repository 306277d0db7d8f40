package certificates

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kogge-dev/kogge/controllers/internal/component"
)

const (
	approvingName = "certificatesigningrequest-approving-controller"
	signingName   = "certificatesigningrequest-signing-controller"
	cleanerName   = "certificatesigningrequest-cleaner-controller"

	requests = "certificates.k8s.io/certificatesigningrequests"

	// rightsDelay is when a request is looked at again that nobody may have yet.
	rightsDelay = 30 * time.Second
)

// Approving approves what kubelets ask for.
var Approving = component.Component{Name: approvingName, Watches: []string{requests}, Writes: []string{requests + ":approval"},
	Add: func(env component.Environment) error {
		clients, err := kubernetes.NewForConfigAndClient(env.Manager.GetConfig(), env.Manager.GetHTTPClient())
		if err != nil {
			return fmt.Errorf("add %s: %w", approvingName, err)
		}
		return add(env, approvingName, &approver{env.Manager.GetClient(), clients.AuthorizationV1()})
	}}

// Signing signs what was approved, given an authority.
var Signing = component.Component{Name: signingName, Watches: []string{requests}, Writes: []string{requests + ":status.certificate"},
	Add: func(env component.Environment) error {
		if env.SigningCA.PrivateKey == nil {
			return nil
		}
		return add(env, signingName, &signer{env.Manager.GetClient(), env.Clock, env.SigningCA})
	}}

// Cleaner removes requests that nobody needs any more.
var Cleaner = component.Component{Name: cleanerName, Watches: []string{requests}, Writes: []string{requests + ":delete"},
	Add: func(env component.Environment) error {
		return add(env, cleanerName, &cleaner{env.Manager.GetClient(), env.Clock})
	}}

func add(env component.Environment, name string, r reconcile.Reconciler) error {
	err := env.Controller(name, 5).For(&certificatesv1.CertificateSigningRequest{}).Complete(component.Quietly(r))
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	return nil
}

type approver struct {
	client  client.Client
	reviews authorizationclient.SubjectAccessReviewsGetter
}

// Reconcile approves one request, if who made it may have it.
func (r *approver) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	csr := &certificatesv1.CertificateSigningRequest{}
	if err := r.client.Get(ctx, request.NamespacedName, csr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if len(csr.Status.Certificate) > 0 || has(csr, certificatesv1.CertificateApproved) || has(csr, certificatesv1.CertificateDenied) {
		return reconcile.Result{}, nil
	}
	asked, err := parse(csr.Spec.Request)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("request %s: %w", csr.Name, err))
	}
	tried := attempts(csr, asked)
	for _, a := range tried {
		answer, err := r.reviews.SubjectAccessReviews().Create(ctx, review(csr, a.subresource), metav1.CreateOptions{})
		if err != nil {
			return reconcile.Result{}, fmt.Errorf("ask whether request %s may be approved: %w", csr.Name, err)
		}
		if !answer.Status.Allowed {
			continue
		}
		csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AutoApproved", Message: a.message})
		if err := r.client.SubResource("approval").Update(ctx, csr); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("approve request %s: %w", csr.Name, err)
		}
		return reconcile.Result{}, nil
	}
	if len(tried) > 0 {
		return reconcile.Result{RequeueAfter: rightsDelay}, nil // the right may come
	}
	return reconcile.Result{}, nil
}

type signer struct {
	client    client.Client
	clock     clock.PassiveClock
	authority tls.Certificate
}

// Reconcile signs one request that was approved, or says why it can't be.
func (r *signer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	csr := &certificatesv1.CertificateSigningRequest{}
	if err := r.client.Get(ctx, request.NamespacedName, csr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if len(csr.Status.Certificate) > 0 || !approved(csr) || failed(csr) {
		return reconcile.Result{}, nil
	}
	asked, err := parse(csr.Spec.Request)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("request %s: %w", csr.Name, err))
	}
	switch ours, err := Judge(&csr.Spec, asked); {
	case !ours:
		return reconcile.Result{}, nil
	case err != nil:
		csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "SignerValidationFailure",
			Message: err.Error(), LastUpdateTime: metav1.NewTime(r.clock.Now())})
	default:
		if csr.Status.Certificate, err = Sign(r.authority, asked, &csr.Spec, r.clock.Now()); err != nil {
			return reconcile.Result{}, fmt.Errorf("sign request %s: %w", csr.Name, err)
		}
	}
	if err := r.client.Status().Update(ctx, csr); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("answer request %s: %w", csr.Name, err)
	}
	return reconcile.Result{}, nil
}

type cleaner struct {
	client client.Client
	clock  clock.PassiveClock
}

// Reconcile removes one request when its time is over.
func (r *cleaner) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	csr := &certificatesv1.CertificateSigningRequest{}
	if err := r.client.Get(ctx, request.NamespacedName, csr); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	left, ok := Until(csr, r.clock.Now())
	switch {
	case !ok || csr.DeletionTimestamp != nil:
		return reconcile.Result{}, nil
	case left > 0:
		return reconcile.Result{RequeueAfter: left}, nil
	}
	if err := r.client.Delete(ctx, csr, client.Preconditions{UID: &csr.UID}); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("remove request %s: %w", csr.Name, err)
	}
	return reconcile.Result{}, nil
}
