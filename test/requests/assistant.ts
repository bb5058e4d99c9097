import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  Client,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { pino } from 'pino';
import { serveHttp } from '../../server/src/assistants/http.ts';
import { type Configuration, hashSecret } from '../../server/src/config/configuration.ts';
import type { KeyRing } from '../../server/src/secrets/key-ring.ts';
import type { Gateway } from '../gateway/gateway.ts';

const program = fileURLToPath(new URL('../../server/src/cli/main.ts', import.meta.url));

/** The version of the protocol that a host speaks. */
export type Era = '2026-07-28' | '2025-11-25';

/** A client with the scopes that the guide names. */
export const assistantClient = { id: 'assistant', secret: 'assistant-secret-of-the-tests-000000000000' };

export function withAssistantClient(configuration: Configuration): Configuration {
  const client = {
    id: assistantClient.id,
    name: 'Assistant',
    secrets: [{ sha256: hashSecret(assistantClient.secret) }],
    scopes: ['appointments:read', 'appointments:write', 'resources:read'] as const,
    grants: configuration.emrs.map(({ id, care_units }) => ({ emr: id, care_units: care_units.map((it) => it.id) })),
  };
  return { ...configuration, clients: [...configuration.clients, client] };
}

interface Call {
  readonly tool: string;
  readonly args: unknown;
}

/** What a tool has answered: its structured result, or `{ error, next }`. */
export type Answer = Readonly<Record<string, unknown>>;

/** A host with a connection to the tools. */
export interface Host {
  readonly client: Client;
  /** Calls a tool. Everything that a model would read is kept in `seen`. */
  call<Result = Answer>(tool: string, args?: Record<string, unknown>): Promise<Result>;
  readonly seen: readonly string[];
  readonly calls: readonly Call[];
}

async function connectHost(transport: Transport, era: Era): Promise<Host> {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy';
  const client = new Client({ name: 'test-host', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const seen: string[] = [];
  const calls: Call[] = [];
  return {
    client,
    seen,
    calls,
    async call<Result>(tool: string, args: Record<string, unknown> = {}) {
      calls.push({ tool, args });
      const result = await client.callTool({ name: tool, arguments: args }).catch((error: Error) => ({
        isError: true,
        structuredContent: undefined,
        content: [{ type: 'text' as const, text: JSON.stringify({ error: error.message }) }],
      }));
      seen.push(JSON.stringify(result));
      const [first] = result.content;
      if (first?.type !== 'text') throw new Error('The answer has no text');
      if (result.structuredContent) return result.structuredContent as Result;
      return (first.text.startsWith('{') ? JSON.parse(first.text) : { error: first.text }) as Result;
    },
  };
}

interface Assignment {
  /** Without a care unit: all of the EHR. */
  readonly careUnit: readonly [emr: string, careUnitId?: string];
  readonly patient: string;
}

/** Starts `crossward mcp` as a host does, and connects to it. */
export async function startAssistant(gateway: Gateway, { careUnit, patient }: Assignment, era: Era) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp'],
    env: {
      CROSSWARD_URL: `http://127.0.0.1:${gateway.port}`,
      CROSSWARD_CLIENT_ID: assistantClient.id,
      CROSSWARD_CLIENT_SECRET: assistantClient.secret,
      CROSSWARD_EMR: careUnit[0],
      CROSSWARD_CARE_UNIT: careUnit[1] ?? '',
      CROSSWARD_PATIENT: patient,
    },
    stderr: 'pipe',
  });
  const log: string[] = [];
  transport.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  return { ...(await connectHost(transport, era)), log };
}

/** Serves assistants over HTTP in this process. `connect` is a host. */
export async function startHttpAssistants(
  gateway: Gateway,
  allowedOrigins: readonly string[] = [],
  keys: KeyRing | undefined = undefined,
) {
  const log: string[] = [];
  const served = await serveHttp({
    baseUrl: `http://127.0.0.1:${gateway.port}`,
    keys,
    host: '127.0.0.1',
    port: 0,
    allowedOrigins,
    version: '1.0.0',
    log: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
  });
  return { ...served, log, ...hostsAt(served.port) };
}

/** Starts `crossward mcp --port` as an operator does. `end` asks it to end, and returns its exit code. */
export async function startAssistantProgram(gateway: Gateway) {
  const child = spawn(process.execPath, [program, 'mcp', '--port', '0'], {
    env: { CROSSWARD_URL: `http://127.0.0.1:${gateway.port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface(child.stderr)) {
    const { msg, port } = JSON.parse(line) as { readonly msg: string; readonly port: number };
    if (msg !== 'listening for assistants') continue;
    const end = async () => {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code as number | null;
    };
    return { ...hostsAt(port), end };
  }
  throw new Error('The program has ended');
}

/** The hosts that a port of this machine serves. */
function hostsAt(port: number) {
  const urlOf = ([emr, careUnitId]: Assignment['careUnit']) =>
    new URL(`http://127.0.0.1:${port}/api/emrs/${emr}${careUnitId ? `/care-units/${careUnitId}` : ''}/mcp`);
  const headersOf = (patient: string) => ({
    'x-service-client-id': assistantClient.id,
    'x-service-client-secret': assistantClient.secret,
    'x-patient': patient,
  });
  return {
    urlOf,
    headersOf,
    connect: (
      { careUnit, patient }: Assignment,
      era: Era,
      headers: Record<string, string> = headersOf(patient),
      signIn: Pick<StreamableHTTPClientTransportOptions, 'authProvider' | 'fetch'> = {},
    ) => connectHost(new StreamableHTTPClientTransport(urlOf(careUnit), { requestInit: { headers }, ...signIn }), era),
  };
}
