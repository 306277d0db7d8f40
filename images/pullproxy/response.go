package pullproxy

import (
	"bufio"
	"io"
	"net/http"
)

// readResponse reads a response's head, and not one byte more: what follows is the tunnel's. So it reads one byte
// at a time, a few hundred in all.
func readResponse(from io.Reader, request *http.Request) (*http.Response, error) {
	response, err := http.ReadResponse(bufio.NewReaderSize(oneByte{from}, 16), request)
	if err != nil {
		return nil, err
	}
	return response, nil
}

// oneByte never gives more than one byte, so that a buffer over it holds none that nobody asked for.
type oneByte struct{ from io.Reader }

func (o oneByte) Read(into []byte) (int, error) {
	if len(into) == 0 {
		return 0, nil
	}
	return o.from.Read(into[:1])
}
