/** `connection`: any other failure. */
export type FaultKind = 'connection_refused' | 'host_unknown' | 'timeout' | 'certificate' | 'tls' | 'connection';

/** Why a connection, or a request over it, failed. */
export interface ConnectionFault {
  readonly kind: FaultKind;
  /** The cause in words, without a full stop: `connection refused by 127.0.0.1:8095`. */
  readonly text: string;
}

/** @param detail the code in brackets, if there is one to show */
type Words = (server: string, detail: string) => string;

const general: Readonly<Record<FaultKind, Words>> = {
  connection_refused: (server) => `connection refused by ${server}`,
  host_unknown: (server) => `unknown host name ${nameOf(server)}`,
  timeout: (server) => `no response from ${server} in time`,
  certificate: (server, detail) => `the certificate of ${server} was not accepted${detail}`,
  tls: (server, detail) => `the TLS handshake with ${server} failed${detail}`,
  connection: (server, detail) => `the connection to ${server} failed${detail}`,
};

/**
 * The alerts of a TLS server about a client's certificate (RFC 8446, section 6.2), with the names that OpenSSL gives them. The
 * server sends one in place of an answer: it has not processed the request.
 */
export const clientCertificateRejected =
  /^ERR_SSL_(SSLV3|SSL\/TLS|TLSV1|TLSV13)_ALERT_((BAD|UNSUPPORTED)_CERTIFICATE|CERTIFICATE_(REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED)$/;

/**
 * Codes of the system (errno), Node.js, OpenSSL (X509_V_ERR_…), undici, nodemailer and the gateway's own requests. The first
 * pattern that fits decides.
 */
const faults: readonly (readonly [RegExp, FaultKind, Words?])[] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ENOTFOUND|EDNS)$/, 'host_unknown'],
  [/^EAI_/, 'host_unknown', (server, detail) => `the host name ${nameOf(server)} was not resolved${detail}`],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout', (server) => `no connection to ${server} in time`],
  [/TIMEDOUT|TIMEOUT/, 'timeout'],
  [/^CERT_HAS_EXPIRED$/, 'certificate', (server) => `the certificate of ${server} has expired`],
  [/SELF_SIGNED/, 'certificate', (server) => `the certificate of ${server} is self-signed and not trusted`],
  [
    /ALTNAME_INVALID|HOSTNAME_MISMATCH/,
    'certificate',
    (server) => `the certificate of ${server} has another host name`,
  ],
  [
    /LEAF_SIGNATURE|ISSUER_CERT/,
    'certificate',
    (server) => `the certificate of ${server} is from an unknown authority`,
  ],
  [/ALERT_CERTIFICATE_REQUIRED$/, 'certificate', (server) => `${server} requires a client certificate`],
  [
    /ALERT_CERTIFICATE_EXPIRED$/,
    'certificate',
    (server) => `${server} says that the gateway's client certificate has expired`,
  ],
  [clientCertificateRejected, 'certificate', (server) => `${server} did not accept the gateway's client certificate`],
  [/CERT|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/, 'certificate'],
  [/^(ERR_SSL_.*|ERR_TLS_.*|EPROTO|ETLS)$/, 'tls'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/, 'connection', (server) => `connection closed by ${server}`],
  [/^(EHOSTUNREACH|ENETUNREACH|ENETDOWN|EHOSTDOWN)$/, 'connection', (server) => `no route to ${server}`],
  [/^HPE_/, 'connection', (server) => `the response of ${server} is not HTTP`],
  [/^UND_ERR_RES_EXCEEDED_MAX_SIZE$/, 'connection', (server) => `the response of ${server} is too large`],
  [/^EHR_ADDRESS_REJECTED$/, 'connection', (server) => `the address of ${server} is not allowed for this connection`],
  [/^EHR_TURN_OVER$/, 'connection', (server) => `the turn to write to ${server} was over`],
  [/^EHR_RESPONSE_OF_ANOTHER_REQUEST$/, 'connection', (server) => `${server} sent the response to another request`],
];

/** How deep a cause is looked for. */
const deepest = 8;

/**
 * The fault of a connection in an error, its `cause` or the errors of an `AggregateError`. Contains host and port alone: no
 * path, query, user or text of the server. `undefined`: none is there.
 *
 * @param address host and port as configured. Without it, those of the error are named.
 */
export function connectionFault(error: unknown, address?: string): ConnectionFault | undefined {
  return find(error, address, deepest);
}

/** A fault of which only the kind is known, in words. */
export function faultText(kind: FaultKind, address: string): string {
  return general[kind](address, '');
}

/** A server that was reached, and that says by its status that it is down or too busy, in words. */
export function statusText(status: number, address: string): string {
  return `status ${status} from ${address}`;
}

const usualPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
};

/** Host and port of a URL, with the usual port of its scheme. */
export function addressOf(url: string | URL): string {
  const { hostname, port, protocol } = new URL(url);
  const number = port === '' ? usualPorts[protocol] : port;
  return number === undefined ? hostname : `${hostname}:${number}`;
}

function find(error: unknown, address: string | undefined, depth: number): ConnectionFault | undefined {
  if (typeof error !== 'object' || error === null || depth === 0) return undefined;
  for (const inner of causesOf(error)) {
    const fault = find(inner, address, depth - 1);
    if (fault) return fault;
  }
  const code = codeOf(error);
  const known = faults.find(([pattern]) => pattern.test(code));
  if (!known) return undefined;
  const [, kind, words = general[kind]] = known;
  return { kind, text: words(address ?? serverOf(error), ` (${code})`) };
}

function causesOf(error: object): readonly unknown[] {
  const { errors, cause }: { readonly errors?: unknown; readonly cause?: unknown } = error;
  return Array.isArray(errors) ? [...errors, cause] : [cause];
}

/** nodemailer has codes of its own, and puts that of the system or of TLS into `originalCode`. */
function codeOf(error: object): string {
  const { originalCode, code }: { readonly originalCode?: unknown; readonly code?: unknown } = error;
  const text = String(originalCode ?? code);
  return /^[A-Z][A-Z0-9_/]{1,63}$/.test(text) ? text : '';
}

/** The server in an error of the system (https://nodejs.org/api/errors.html#class-systemerror), or of the gateway. */
function serverOf(error: object): string {
  const {
    address,
    hostname,
    port,
  }: { readonly address?: unknown; readonly hostname?: unknown; readonly port?: unknown } = error;
  const name = String(address ?? hostname);
  if ((address ?? hostname) === undefined || !/^[\w.:[\]/-]{1,253}$/.test(name)) return 'the server';
  if (typeof port !== 'number') return name;
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`;
}

function nameOf(server: string): string {
  return server.replace(/:\d+$/, '');
}
