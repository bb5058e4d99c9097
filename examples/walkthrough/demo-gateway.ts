import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '../../server/src/config/environment/environment.ts';
import { messages } from './mailbox.ts';
import { print } from './print.ts';

/** A gateway that runs the demo. */
export interface DemoGateway {
  /** `http://host:port` */
  readonly address: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether it was started for the walk-through. */
  readonly isOwn: boolean;
  /** Stops the gateway and removes its data, if it was started for the walk-through. */
  stop(): Promise<void>;
}

/** The demo that is running with the current settings. If there is none, starts one with a temporary folder. */
export async function findDemo(): Promise<DemoGateway> {
  const running = await findRunningDemo();
  if (running) {
    print('step', `The demo at ${running.address} is running.`);
    return running;
  }
  print('step', 'No demo is running here. Starting one for the walk-through.');
  return await startDemo();
}

/** The demo that is running with the current settings, such as `PORT`. */
export async function findRunningDemo(): Promise<DemoGateway | undefined> {
  const { host, port, dataDirectory } = readEnvironment();
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = await readClient(dataDirectory).catch(() => undefined);
  if (!client || !(await isDemoOf(address, client))) return undefined;
  return { address, ...client, isOwn: false, stop: async () => undefined };
}

type Client = Pick<DemoGateway, 'clientId' | 'clientSecret'>;

async function readClient(dataDir: string): Promise<Client> {
  const { client_id, client_secret } = JSON.parse(await readFile(join(dataDir, 'demo-client.json'), 'utf8'));
  return { clientId: client_id, clientSecret: client_secret };
}

async function isDemoOf(address: string, { clientId, clientSecret }: Client): Promise<boolean> {
  try {
    if (!(await messages(address))) return false;
    const headers = { 'x-service-client-id': clientId, 'x-service-client-secret': clientSecret };
    return (await fetch(`${address}/api/emrs`, { headers })).ok;
  } catch {
    return false;
  }
}

async function startDemo(): Promise<DemoGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crossward-walkthrough-'));
  const { DATABASE_URL: _, CROSSWARD_CONFIG: __, CROSSWARD_WORKERS: ___, ...environment } = process.env;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const child = spawn('sh', ['server/node.sh', 'server/bundle/gateway.js'], {
    cwd: root,
    env: {
      ...environment,
      HOST: '127.0.0.1',
      PORT: '0',
      CROSSWARD_DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl-C does not reach it: this process stops it.
    detached: true,
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    await rm(dataDir, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  }
  const address = await new Promise<string | undefined>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /"address":"(http:[^"]+)"/.exec(line)?.[1];
      if (found) resolve(found);
    });
    void ended.then(() => resolve(undefined));
  });
  if (address === undefined) {
    await stop();
    throw new Error('The demo did not start.');
  }
  return { address, ...(await readClient(dataDir)), isOwn: true, stop };
}
