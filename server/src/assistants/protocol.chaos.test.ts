import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { startHttpAssistants, withAssistantClient } from '../../../test/requests/assistant.ts';

const run = promisify(execFile);
const conformance = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The scenarios that need no tools, prompts or resources made for them, by version of the protocol. */
const scenarios = [
  ...(['2025-06-18', '2025-11-25'] as const).flatMap((version) =>
    ['server-initialize', 'ping', 'tools-list'].map((name) => [name, version] as const),
  ),
  ...[
    'server-stateless',
    'tools-list',
    'server-sse-multiple-streams',
    'dns-rebinding-protection',
    'http-header-validation',
    'input-required-result-unsupported-methods',
  ].map((name) => [name, '2026-07-28'] as const),
];

/** What the package says of a check for which a server needs a tool that was made for it. */
const needsTestTool = /^Not testable: server does not list the diagnostic tool/;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

let gateway: Gateway;
let assistants: Awaited<ReturnType<typeof startHttpAssistants>>;
let url: string;
const proxy = createServer();

beforeAll(async () => {
  gateway = await startGateway({ configure: withAssistantClient });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  assistants = await startHttpAssistants(gateway, [origin]);
  const target = assistants.urlOf(['sandbox-no', 'oslo-sentrum']);
  // The package sends no credentials.
  proxy.on('request', (incoming, response) => {
    const headers = { ...incoming.headers, ...assistants.headersOf('p-3') };
    const outgoing = request(target, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  url = `${origin}${target.pathname}`;
});

afterAll(async () => {
  proxy.close();
  await assistants.close();
  await gateway.close();
});

// The package waits for frames for less than a second. A fault of ours fails each time.
test.each(scenarios)('%s of the conformance package passes with %s', { retry: 5 }, async (scenario, version) => {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-mcp-'));
  const words = ['server', '--url', url, '--scenario', scenario, '--spec-version', version, '-o', folder];
  // It fails if any check fails. The checks are in a file.
  await run(process.execPath, [conformance, ...words, '--timeout', '120000']).catch(() => undefined);
  const [result = 'nothing'] = await readdir(folder);
  const checks = JSON.parse(await readFile(join(folder, result, 'checks.json'), 'utf8')) as readonly Check[];
  await rm(folder, { recursive: true });

  expect(checks.filter(({ status }) => status === 'SUCCESS')).not.toEqual([]);
  const failed = checks.filter(
    ({ status, errorMessage = '' }) => status === 'FAILURE' && !needsTestTool.test(errorMessage),
  );
  expect(failed).toEqual([]);
});
