package schemas

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"fmt"

	"github.com/klauspost/compress/zstd"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// embedded is a schema.Schema, as gob writes it, compressed.
//
//go:embed schemas.gob.zst
var embedded []byte

func init() {
	gob.Register(map[any]any{}) // the default of an object
}

// Parser makes the parser of all built-in types.
func Parser() (*typed.Parser, error) {
	parser := &typed.Parser{}
	if err := decode(embedded, &parser.Schema); err != nil {
		return nil, err
	}
	return parser, nil
}

func encode(s *schema.Schema) ([]byte, error) {
	var plain bytes.Buffer
	if err := gob.NewEncoder(&plain).Encode(s); err != nil {
		return nil, fmt.Errorf("encode the schemas: %w", err)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(plain.Bytes(), nil), w.Close()
}

func decode(compressed []byte, into *schema.Schema) error {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer r.Close()
	plain, err := r.DecodeAll(compressed, nil)
	if err != nil {
		return fmt.Errorf("decompress the schemas: %w", err)
	}
	if err := gob.NewDecoder(bytes.NewReader(plain)).Decode(into); err != nil {
		return fmt.Errorf("decode the schemas: %w", err)
	}
	return nil
}
