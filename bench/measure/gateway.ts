import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };
import { scopes } from '../../server/src/config/schema/schema.ts';
import { createKeyRing } from '../../server/src/secrets/key-ring.ts';
import { reloadHeader, reloadToken } from '../../server/src/secrets/reload-token.ts';
import { freePort } from '../../test/processes/free-port.ts';
import type { Server } from './server.ts';

export interface GatewayOptions {
  /** A folder in which the gateway gets one of its own. */
  readonly folder: string;
  /** Default: PGlite in its folder. */
  readonly databaseUrl?: string;
  /** A command, with the repository as its folder. Default: that of `npm start`. */
  readonly command?: string;
  /** EHRs in addition to the sandbox. */
  readonly emrs?: readonly EmrInFile[];
  /** Further settings of the configuration file. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** An EHR of the configuration file. */
export interface EmrInFile {
  readonly id: string;
  readonly [setting: string]: unknown;
}

export const npmStart = packageFile.scripts.start;
export const root = fileURLToPath(new URL('../..', import.meta.url));
const pollMilliseconds = 5;
const longestStartMilliseconds = 180_000;
/** One for all gateways of a run: a database knows its key. */
const secretKey = randomBytes(32).toString('base64');

/** Care units of the sandbox. */
export const careUnits = ['oslo-sentrum', 'bergen', 'trondheim', 'stavanger', 'drammen', 'bodo'] as const;
const clientIds = ['bench-1', 'bench-2', 'bench-3'] as const;

const sandbox: EmrInFile = {
  id: 'sandbox-no',
  name: 'Sandkassen Norge',
  connector: 'sandbox',
  settings: { country: 'NO' },
  synthetic_identifiers: true,
  care_units: careUnits.map((id) => ({ id, name: id, time_zone: 'Europe/Oslo', language: 'nb' })),
};

/** A gateway with a configuration file. */
export interface ConfiguredGateway extends Server {
  /** Path of the file, which is JSON. */
  readonly configuration: string;
}

/** Starts the gateway as `npm start` does, and waits until it is ready. Its log goes to `/dev/null`. */
export async function startGateway(options: GatewayOptions): Promise<ConfiguredGateway> {
  const { command = npmStart, databaseUrl, emrs = [] } = options;
  const folder = await mkdtemp(join(options.folder, 'gateway-'));
  const secret = randomBytes(32).toString('base64url');
  const configuration = join(folder, 'crossward.yaml');
  await writeFile(configuration, JSON.stringify({ ...configurationFile([sandbox, ...emrs]), ...options.settings }));
  const started = await startCommand(command, {
    CROSSWARD_CONFIG: configuration,
    CROSSWARD_SECRET_KEY: secretKey,
    CROSSWARD_DATA_DIR: join(folder, 'data'),
    BENCH_SECRET: secret,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...options.variables,
  });
  const headersOf = (id: string) => ({ 'x-service-client-id': id, 'x-service-client-secret': secret });
  const [first, ...others] = clientIds;
  return { ...started, configuration, clients: [headersOf(first), ...others.map(headersOf)] };
}

/** Lets a gateway read its file again, as `crossward reload` does, and waits until it uses it. */
export async function reload({ url }: ConfiguredGateway): Promise<void> {
  const token = reloadToken(createKeyRing([Buffer.from(secretKey, 'base64')]), false, Date.now());
  const response = await fetch(`${url}/reload`, { method: 'POST', headers: { [reloadHeader]: token } });
  const { outcome } = (await response.json()) as { readonly outcome?: unknown };
  if (outcome !== 'changed') throw new Error(`The gateway does not use its file: ${response.status}, ${outcome}`);
}

function configurationFile(emrs: readonly EmrInFile[]) {
  return {
    emrs,
    clients: clientIds.map((id) => ({
      id,
      secrets: [{ env: 'BENCH_SECRET' }],
      scopes,
      grants: emrs.map((emr) => ({ emr: emr.id })),
    })),
    limits: { requests_per_minute: 100_000_000 },
    http: { drain_seconds: 0 },
  };
}

/** Runs a command that starts a gateway, and waits until `/health/ready` responds with 200. */
export async function startCommand(
  command: string,
  variables: Readonly<Record<string, string>>,
): Promise<Server & { readonly secondsToReady: number }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const child = spawn('sh', ['-c', command], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.GATEWAY_NODE_OPTIONS, PORT: String(port), ...variables },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  while (!(await isReady(url))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || performance.now() - begun > longestStartMilliseconds) {
      child.kill('SIGKILL');
      throw new Error(`${command} did not start`);
    }
    await sleep(pollMilliseconds);
  }
  return {
    url,
    clients: [{}],
    pid: child.pid ?? 0,
    secondsToReady: (performance.now() - begun) / 1000,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health/ready`)).ok;
  } catch {
    return false;
  }
}
