import { once } from 'node:events';
import { connect } from 'node:tls';
import type { Configuration } from '../../config/configuration.ts';
import { isLoopbackHost } from '../../config/rules/loopback.ts';
import { addressOf, connectionFault } from '../../log/connection-fault.ts';
import type { RunningGateway } from './check-gateway.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('public addresses');
/** Milliseconds. */
const timeoutMs = 10_000;
const fewDays = 14;

/** The addresses at which patients and operators reach the gateway, with the TLS proxy in front of it. */
export async function checkPublicAddresses(
  { http, console }: Configuration,
  running: RunningGateway | undefined,
): Promise<Finding[]> {
  const addresses = [
    ...(http.public_url === undefined ? [] : [{ subject: 'http.public_url', url: http.public_url, path: '/c/doctor' }]),
    ...(console?.url === undefined ? [] : [{ subject: 'console.url', url: console.url, path: '/console/sign-in' }]),
  ];
  if (addresses.length === 0) return [found('addresses', 'note', 'neither http.public_url nor console.url is set')];
  const findings = await Promise.all(addresses.map((it) => checkAddress(it, running)));
  const isBehindProxy = addresses.some(({ url }) => !isLoopbackHost(new URL(url).hostname));
  if (isBehindProxy && http.trusted_proxies.length === 0) {
    const text = 'is empty: the limits for each address count all callers behind the proxy as one';
    return [...findings.flat(), found('http.trusted_proxies', 'warning', text)];
  }
  return findings.flat();
}

interface PublicAddress {
  readonly subject: string;
  /** Without a slash at the end. */
  readonly url: string;
  /** What a gateway responds to there, with its request id. */
  readonly path: string;
}

async function checkAddress(
  { subject, url, path }: PublicAddress,
  running: RunningGateway | undefined,
): Promise<Finding[]> {
  const address = addressOf(url);
  try {
    const response = await ask(url + path);
    const certificate = new URL(url).protocol === 'https:' ? await checkCertificate(subject, url) : [];
    if (!response.headers.has('x-request-id'))
      return [notThere(subject, address, response.status, running), ...certificate];
    return [
      found(subject, 'ok', `${address} reaches a gateway`),
      ...(await checkMetrics(subject, url)),
      ...certificate,
    ];
  } catch (error) {
    const text = connectionFault(error, address)?.text ?? `no response from ${address}`;
    // Before the first start, the gateway itself may be what does not respond, or the proxy that waits for it.
    return [
      running ? found(subject, 'problem', text) : found(subject, 'unchecked', `${text}; no gateway runs here now`),
    ];
  }
}

function ask(url: string): Promise<Response> {
  return fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
}

function notThere(subject: string, address: string, status: number, running: RunningGateway | undefined): Finding {
  const answer = `${address} responds with status ${status}, which is not from a gateway`;
  return running
    ? found(subject, 'problem', `${answer}: does the proxy pass requests on to ${running.url}?`)
    : found(subject, 'unchecked', `${answer}; none runs here now`);
}

/** Others than callers alone may see the metrics and the health of the gateway. */
async function checkMetrics(subject: string, url: string): Promise<Finding[]> {
  if (isLoopbackHost(new URL(url).hostname)) return [];
  const response = await ask(`${new URL(url).origin}/metrics`);
  if (!response.ok || !(await response.text()).includes('crossward_')) return [];
  const text = 'the proxy passes /metrics on: keep it and /health from callers, or set http.operations_port';
  return [found(subject, 'warning', text)];
}

async function checkCertificate(subject: string, url: string): Promise<Finding[]> {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const socket = connect({ host, port: port === '' ? 443 : Number(port), servername: host });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('timeout')));
  try {
    await once(socket, 'secureConnect');
    const days = Math.floor((Date.parse(socket.getPeerCertificate().valid_to) - Date.now()) / 86_400_000);
    return days < fewDays ? [found(subject, 'warning', `the certificate expires in ${days} days`)] : [];
  } catch {
    // The request before has shown what is wrong.
    return [];
  } finally {
    socket.destroy();
  }
}
