package certificates

import (
	"context"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kogge-dev/kogge/apiserver/request"
	"github.com/kogge-dev/kogge/apiserver/resource"
)

// Descriptions of columns are the older version's, as upstream shows them.
var (
	requestDocs = certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	statusDocs  = certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()
)

// CertificateSigningRequest asks a signer for a certificate. Who asks is what the server knows of the caller.
var CertificateSigningRequest = resource.Define(resource.Kind[*certificatesv1.CertificateSigningRequest]{
	Name:  resource.Name{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest", Plural: "certificatesigningrequests", Short: []string{"csr"}},
	List:  &certificatesv1.CertificateSigningRequestList{},
	Store: "certificatesigningrequests",
	Strategy: resource.Strategy[*certificatesv1.CertificateSigningRequest]{
		PrepareForCreate: prepareRequest,
		PrepareForUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) {
			r.Spec, r.Status = old.Spec, old.Status
		},
		Validate: func(_ context.Context, r *certificatesv1.CertificateSigningRequest) field.ErrorList {
			return validateRequest(r, nil)
		},
		ValidateUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
			return validateRequestUpdate(r, old, false, false)
		},
		ResetFields: []string{"spec", "status"},
	},
	Status: &resource.Strategy[*certificatesv1.CertificateSigningRequest]{
		PrepareForUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) {
			r.Spec = old.Spec
			keepConditions(&r.Status, &old.Status, certificatesv1.CertificateApproved)
			keepConditions(&r.Status, &old.Status, certificatesv1.CertificateDenied)
			fillTimes(&r.Status, &old.Status)
		},
		ValidateUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
			return validateRequestUpdate(r, old, false, true)
		},
		ResetFields: []string{"spec", "status.conditions"},
	},
	Subresources: []resource.Subresource{{Name: "approval", Verbs: resource.StatusVerbs, Hooks: approval()}},
	Fields: map[string]func(*certificatesv1.CertificateSigningRequest) string{
		"spec.signerName": func(r *certificatesv1.CertificateSigningRequest) string { return r.Spec.SignerName },
	},
	ValidateName: func(string, bool) []string { return nil },
	Columns: []metav1.TableColumnDefinition{
		resource.NameColumn,
		resource.AgeColumn,
		resource.Column("SignerName", "string", requestDocs["signerName"]),
		resource.Column("Requestor", "string", requestDocs["request"]),
		resource.Column("RequestedDuration", "string", requestDocs["expirationSeconds"]),
		resource.Column("Condition", "string", statusDocs["conditions"]),
	},
	Row: func(r *certificatesv1.CertificateSigningRequest) []any {
		signer, lasts := r.Spec.SignerName, "<none>"
		if signer == "" {
			signer = "<none>"
		}
		if s := r.Spec.ExpirationSeconds; s != nil {
			lasts = duration.HumanDuration(time.Duration(*s) * time.Second)
		}
		return []any{r.Name, resource.AgeOf(r), signer, r.Spec.Username, lasts, stateText(&r.Status)}
	},
})

// approval is the endpoint that decides: conditions change there, and nothing else.
func approval() *resource.Hooks {
	h := resource.Erase(resource.Strategy[*certificatesv1.CertificateSigningRequest]{
		PrepareForUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) {
			fillTimes(&r.Status, &old.Status)
			decided := r.Status.Conditions
			r.Spec, r.Status = old.Spec, *old.Status.DeepCopy()
			r.Status.Conditions = decided
		},
		ValidateUpdate: func(_ context.Context, r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
			return validateRequestUpdate(r, old, true, false)
		},
		ResetFields: []string{"spec", "status.certificate"},
	})
	return &h
}

func prepareRequest(ctx context.Context, r *certificatesv1.CertificateSigningRequest) {
	user := request.UserFrom(ctx)
	r.Spec.Username, r.Spec.UID, r.Spec.Groups, r.Spec.Extra = user.Name, user.UID, user.Groups, nil
	for key, values := range user.Extra {
		if r.Spec.Extra == nil {
			r.Spec.Extra = map[string]certificatesv1.ExtraValue{}
		}
		r.Spec.Extra[key] = values
	}
	r.Status = certificatesv1.CertificateSigningRequestStatus{}
}

func stateText(s *certificatesv1.CertificateSigningRequestStatus) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range s.Conditions {
		has[c.Type] = true
	}
	text := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		text = "Denied"
	case has[certificatesv1.CertificateApproved]:
		text = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		text += ",Failed"
	}
	if len(s.Certificate) > 0 {
		text += ",Issued"
	}
	return text
}

// keepConditions puts conditions of a type back as they were, where there are as many.
func keepConditions(now, was *certificatesv1.CertificateSigningRequestStatus, t certificatesv1.RequestConditionType) {
	a, b := indices(now, t), indices(was, t)
	if len(a) != len(b) {
		return
	}
	for i := range a {
		now.Conditions[a[i]] = was.Conditions[b[i]]
	}
}

func indices(s *certificatesv1.CertificateSigningRequestStatus, t certificatesv1.RequestConditionType) []int {
	var out []int
	for i := range s.Conditions {
		if s.Conditions[i].Type == t {
			out = append(out, i)
		}
	}
	return out
}

// fillTimes gives conditions the times that their writer left out.
func fillTimes(s, old *certificatesv1.CertificateSigningRequestStatus) {
	now := metav1.Now()
	for i := range s.Conditions {
		c := &s.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, o := range old.Conditions {
			if o.Type == c.Type && o.Status == c.Status && !o.LastTransitionTime.IsZero() {
				c.LastTransitionTime = o.LastTransitionTime
				break
			}
		}
	}
}
