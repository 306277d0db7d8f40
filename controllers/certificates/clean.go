package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How long requests stay: those that were answered, and those that wait for an answer or a certificate.
const (
	answeredStay = time.Hour
	waitingStay  = 24 * time.Hour
)

// Until is how long a request may stay, from now on; 0 or less: it is to go. ok is false when it may stay for ever.
func Until(csr *certificatesv1.CertificateSigningRequest, now time.Time) (left time.Duration, ok bool) {
	note := func(end time.Time) {
		if l := end.Sub(now); !ok || l < left {
			left, ok = l, true
		}
	}
	after := func(t metav1.Time, stay time.Duration) {
		if !t.IsZero() {
			note(t.Add(stay))
		}
	}
	issued := len(csr.Status.Certificate) > 0
	if len(csr.Status.Conditions) == 0 {
		after(csr.CreationTimestamp, waitingStay)
	}
	for _, c := range csr.Status.Conditions {
		switch {
		case c.Type == certificatesv1.CertificateDenied, c.Type == certificatesv1.CertificateFailed:
			after(c.LastUpdateTime, answeredStay)
		case c.Type != certificatesv1.CertificateApproved:
		case issued:
			after(c.LastUpdateTime, answeredStay)
			if end, known := expiry(csr.Status.Certificate); known {
				note(end)
			}
		default:
			after(c.LastUpdateTime, waitingStay)
		}
	}
	return left, ok
}

// expiry is when the first certificate ends, if it can be read.
func expiry(text []byte) (time.Time, bool) {
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, false
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, false
	}
	return certificate.NotAfter, true
}
