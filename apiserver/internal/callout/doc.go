// Package callout calls the servers that users extend the API server with: admission webhooks and conversion webhooks. A server is at
// a URL, or behind a Service: then an endpoint of the Service is dialled directly, so that no proxy and no DNS is needed.
package callout
