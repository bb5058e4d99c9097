import { isIPv6 } from 'node:net';
import type { Configuration } from '../../config/configuration.ts';
import type { Environment } from '../../config/environment/environment.ts';
import { type DatabaseTrouble, databaseTroubles, troubleWords } from '../../db/troubles.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { assertCanListen } from '../../startup/listen-error.ts';
import { type Finding, findingsOf } from './finding.ts';

/** A gateway that runs with this setup. */
export interface RunningGateway {
  /** `http://host:port`, without a slash at the end. */
  readonly url: string;
  readonly isReady: boolean;
  /** It was told to stop, and still serves requests. */
  readonly isStopping: boolean;
  /** EHRs that have not been opened since the start. */
  readonly notOpen: readonly string[];
  /** EHRs that operators have paused. */
  readonly paused: readonly string[];
  /** What keeps its database from working. */
  readonly trouble: DatabaseTrouble | undefined;
}

const found = findingsOf('gateway');
/** Milliseconds. */
const timeoutMs = 10_000;

/**
 * Asks the gateway at `HOST` and `PORT` for its health.
 *
 * @param mustRun whether it is a problem if none runs
 */
export async function checkGateway(
  environment: Environment,
  configuration: Configuration | undefined,
  mustRun: boolean,
): Promise<{ readonly findings: readonly Finding[]; readonly running?: RunningGateway }> {
  const { host, port } = environment;
  const url = urlOf(host, port);
  const operations = configuration?.http.operations_port;
  const health = port === 0 ? undefined : await readHealth(operations === undefined ? url : urlOf(host, operations));
  if (health) {
    const running = { url, ...health };
    const process = health.isReady ? found('process', 'ok', `runs at ${url}`) : notReady(running);
    return { running, findings: [process, ...(health.trouble ? [troubled(health.trouble)] : [])] };
  }
  try {
    await assertCanListen(environment);
    if (mustRun) return { findings: [found('process', 'problem', `does not run at ${url}`)] };
    return { findings: [found('process', 'note', `does not run at ${url}; it could start there`)] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { findings: error.mistakes.map((text) => found('process', 'problem', `does not run. ${text}`)) };
  }
}

function troubled(trouble: DatabaseTrouble): Finding {
  return found('database', 'problem', troubleWords[trouble]);
}

function notReady({ url, isStopping, notOpen }: RunningGateway): Finding {
  if (isStopping) return found('process', 'problem', `runs at ${url}, and stops`);
  const cause = notOpen.length > 0 ? `EHRs not opened: ${notOpen.join(', ')}` : 'its database does not respond';
  return found('process', 'problem', `runs at ${url}, and is not ready: ${cause}`);
}

/** `undefined`: no gateway responds. */
async function readHealth(url: string): Promise<Omit<RunningGateway, 'url'> | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' });
    const body: unknown = await response.json();
    if (typeof body !== 'object' || body === null || !('emrs_not_open' in body)) return undefined;
    return {
      isReady: response.ok,
      isStopping: 'status' in body && body.status === 'stopping',
      notOpen: idsIn(body.emrs_not_open),
      paused: 'emrs_paused' in body ? idsIn(body.emrs_paused) : [],
      trouble: databaseTroubles.find((it) => 'database_trouble' in body && it === body.database_trouble),
    };
  } catch {
    return undefined;
  }
}

function idsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The address of a gateway on this machine. A wildcard address is reached at the loopback address. */
export function urlOf(host: string, port: number): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}
