package authn

import (
	"context"
	"crypto/subtle"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kogge-dev/kogge/apiserver/request"
)

// TokenFile knows the tokens of a CSV file: token, user, uid and optionally groups in one quoted field.
type TokenFile []fileToken

type fileToken struct {
	token string
	user  request.User
}

// ReadTokenFile reads a file in the form of --token-auth-file.
func ReadTokenFile(path string) (TokenFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows := csv.NewReader(f)
	rows.FieldsPerRecord = -1
	var out TokenFile
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("token file %s: %w", path, err)
		}
		if len(row) < 3 || row[0] == "" {
			return nil, fmt.Errorf("token file %s: a row needs a token, a user and a uid", path)
		}
		t := fileToken{token: row[0], user: request.User{Name: row[1], UID: row[2]}}
		if len(row) > 3 && row[3] != "" {
			t.user.Groups = strings.Split(row[3], ",")
		}
		out = append(out, t)
	}
}

// User finds a token's user. All tokens are compared, each in constant time.
func (f TokenFile) User(_ context.Context, token string) (*request.User, error) {
	var found *request.User
	for i := range f {
		if subtle.ConstantTimeCompare([]byte(f[i].token), []byte(token)) == 1 {
			found = &f[i].user
		}
	}
	return found, nil
}
