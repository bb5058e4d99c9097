import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Preload, startAfter } from './preloads.ts';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** What `npm start` runs. */
const npmStart = ['sh', fileOf('../../server/node.sh'), fileOf('../../server/bundle/gateway.js')] as const;

/** A configuration other than the demo's. */
export interface ChildSetup {
  readonly client: { readonly id: string; readonly secret: string };
  readonly variables: Readonly<Record<string, string>>;
}

interface ChildOptions {
  readonly dataDir: string;
  /** Default: the embedded database in the folder. */
  readonly databaseUrl?: string | undefined;
  /** Default: the demo. */
  readonly setup?: ChildSetup;
  readonly variables?: Readonly<Record<string, string>>;
  /** A module to load before the gateway. */
  readonly preload?: Preload;
  /** Another command to run. */
  readonly command?: readonly [string, ...string[]];
  /** Where to run it. Default: here. */
  readonly cwd?: string;
}

export interface ChildResponse<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

export interface ChildRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A gateway in its own process. */
export interface ChildGateway {
  /** `http://127.0.0.1:<port>` */
  readonly address: string;
  readonly pid: number;
  /** Headers that the client sends with each request. */
  readonly credentials: Readonly<Record<'x-service-client-id' | 'x-service-client-secret', string>>;
  /** `undefined`: the process ended before it responded. */
  send<Body>(request: ChildRequest): Promise<ChildResponse<Body> | undefined>;
  kill(): Promise<void>;
  readonly ended: Promise<unknown>;
  readonly hasEnded: () => boolean;
  /** `null` if a signal ended the process. */
  readonly exitCode: () => number | null;
  /** Complete lines of standard output so far. */
  readonly logLines: readonly string[];
}

/** Starts the gateway's program and waits until it listens. */
export async function startChild({
  dataDir,
  databaseUrl,
  setup,
  variables,
  preload,
  command: given,
  cwd,
}: ChildOptions): Promise<ChildGateway> {
  const [command, ...words] = given ?? (preload ? await startAfter(preload) : npmStart);
  const child = spawn(command, words, {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      CROSSWARD_DATA_DIR: dataDir,
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
      ...setup?.variables,
      ...variables,
    },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C does not reach the process: the caller stops it.
    detached: true,
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      hasEnded = true;
      resolve();
    });
  });
  const logLines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => logLines.push(line));
  const address = await new Promise<string>((resolve, reject) => {
    let output = '';
    const readOutput = (text: string) => {
      output = (output + text).slice(-10_000);
      const found = /"address":"(http:[^"]+)"/.exec(output)?.[1];
      if (found) resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', readOutput);
    child.stderr.setEncoding('utf8').on('data', readOutput);
    void ended.then(() => reject(new Error(`The gateway did not start: ${output}`)));
  });
  const client = setup?.client ?? (await readDemoClient(dataDir));
  const credentials = { 'x-service-client-id': client.id, 'x-service-client-secret': client.secret };
  return {
    address,
    pid: child.pid ?? 0,
    credentials,
    ended,
    hasEnded: () => hasEnded,
    exitCode: () => child.exitCode,
    logLines,
    async send<Body>({ method, path, body, headers }: ChildRequest) {
      try {
        const response = await fetch(address + path, {
          method,
          headers: {
            ...credentials,
            ...(body ? { 'content-type': 'application/json' } : {}),
            ...headers,
          },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        const text = await response.text();
        return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Body };
      } catch (error) {
        // fetch reports a broken connection as a TypeError. An incomplete body is not valid JSON.
        if (!(error instanceof TypeError)) throw error;
        await Promise.race([ended, timeLimit(60_000)]);
        if (!hasEnded) throw error;
        return undefined;
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Whether a signal has stopped the process. */
export async function isStopped({ pid }: Pick<ChildGateway, 'pid'>): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8');
  return line.slice(line.lastIndexOf(')') + 2).startsWith('T');
}

async function readDemoClient(dataDir: string): Promise<ChildSetup['client']> {
  const { client_id, client_secret } = JSON.parse(await readFile(join(dataDir, 'demo-client.json'), 'utf8'));
  return { id: client_id, secret: client_secret };
}

function timeLimit(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
