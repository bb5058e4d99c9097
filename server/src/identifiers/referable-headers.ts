/** Headers set by proxies, load balancers or tracing, or that carry credentials. They never contain identifiers. */
const setByOthers = new Set([
  'x-accel-expires',
  'x-api-key',
  'x-auth-token',
  'x-authorization',
  'x-backend-server',
  'x-cdn',
  'x-client-ip',
  'x-cloud-trace-context',
  'x-cluster-client-ip',
  'x-coming-from',
  'x-correlation-id',
  'x-csrf-token',
  'x-http-method-override',
  'x-forwarded',
  'x-proto',
  'x-real-ip',
  'x-real-port',
  'x-request-id',
  'x-request-start',
  'x-requested-with',
  'x-rewrite-url',
  'x-scheme',
  'x-true-client-ip',
  'x-trace-id',
  'x-varnish',
  'x-xsrf-token',
]);
const setByOthersBeginWith = [
  'x-accel-',
  'x-akamai-',
  'x-amz-',
  'x-amzn-',
  'x-appengine-',
  'x-arr-',
  'x-auth-request-',
  'x-azure-',
  'x-b3-',
  'x-client-cert',
  'x-datadog-',
  'x-envoy-',
  'x-fastly-',
  'x-forwarded-',
  'x-goog-',
  'x-google-',
  'x-istio-',
  'x-ms-',
  'x-original-',
  'x-ot-span-',
  'x-proxy-',
  'x-remote-',
  'x-service-',
  'x-ssl-',
  'x-tls-',
  'x-vercel-',
];

/** Headers used by the gateway or by HTTP itself (RFC 9110). The configuration cannot allow them. */
const readByOthers = new Set([
  'authorization',
  'connection',
  'cookie',
  'expect',
  'host',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-request-id',
]);
const readByOthersBeginWith = ['content-', 'proxy-', 'x-service-'];

/**
 * Whether `header:{name}` may refer to this header. Allowed are headers that start with `x-` and are not reserved, and
 * those listed in the configuration (`identifier_headers`).
 *
 * @param name in lower case
 */
export function isReferable(name: string, further: ReadonlySet<string>): boolean {
  if (further.has(name)) return true;
  return name.startsWith('x-') && !setByOthers.has(name) && !beginsWithAny(name, setByOthersBeginWith);
}

/** Whether `identifier_headers` in the configuration may list this header. */
export function isConfigurable(name: string): boolean {
  return !readByOthers.has(name) && !beginsWithAny(name, readByOthersBeginWith);
}

function beginsWithAny(name: string, starts: readonly string[]): boolean {
  return starts.some((start) => name.startsWith(start));
}
