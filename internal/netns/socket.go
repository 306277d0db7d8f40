package netns

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

// DialContext connects to address from inside the namespace. The address must be an IP literal with a port:
// looking a name up, and trying several addresses at once, happen on other threads, which are not inside.
func (n Namespace) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if err := requireLiteral(address); err != nil {
		return nil, err
	}
	var connection net.Conn
	err := n.Do(func() error {
		var dialer net.Dialer
		var err error
		connection, err = dialer.DialContext(ctx, network, address)
		return err
	})
	if err != nil {
		if connection != nil {
			connection.Close()
		}
		return nil, err
	}
	return connection, nil
}

// Listen opens a stream listener inside the namespace. As for DialContext, address must be an IP literal.
func (n Namespace) Listen(ctx context.Context, network, address string) (net.Listener, error) {
	if err := requireLiteral(address); err != nil {
		return nil, err
	}
	var listener net.Listener
	err := n.Do(func() error {
		var config net.ListenConfig
		var err error
		listener, err = config.Listen(ctx, network, address)
		return err
	})
	if err != nil {
		if listener != nil {
			listener.Close()
		}
		return nil, err
	}
	return listener, nil
}

func requireLiteral(address string) error {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return fmt.Errorf("address inside a network namespace must be an IP literal with a port: %w", err)
	}
	return nil
}
