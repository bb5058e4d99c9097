import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs `.ci/audit.mjs` against this registry. */
async function audit(respond: RequestListener) {
  const registry = createServer((request, response) => {
    request.resume();
    respond(request, response);
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void registry.close());
  const { port } = registry.address() as AddressInfo;
  // npm caches advisories by id.
  const cache = await mkdtemp(join(tmpdir(), 'crossward-audit-'));
  onTestFinished(() => rm(cache, { recursive: true, force: true }));
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_cache: cache,
    npm_config_fetch_retries: '0',
  };
  return new Promise<{ code: number | null; stdout: string }>((resolve) => {
    const child = execFile(process.execPath, ['.ci/audit.mjs'], { cwd: root, env }, (_, stdout) =>
      resolve({ code: child.exitCode, stdout }),
    );
  });
}

function advisories(severity?: string): RequestListener {
  const advisory = { id: 1, url: 'https://advisories.example/1', title: 'made up', severity, vulnerable_versions: '*' };
  return ({ url }, response) => {
    response.statusCode = url?.endsWith('/advisories/bulk') ? 200 : 404;
    response.end(JSON.stringify(severity ? { undici: [advisory] } : {}));
  };
}

test.each(['high', 'critical'])('fails for a production vulnerability of severity %s', async (severity) => {
  const { code, stdout } = await audit(advisories(severity));
  expect(stdout).toContain(`${severity}: undici`);
  expect(code).toBe(1);
});

test('reports a vulnerability of lower severity and passes', async () => {
  const { code, stdout } = await audit(advisories('moderate'));
  expect(stdout).toContain('moderate: undici');
  expect(code).toBe(0);
});

test('passes without vulnerabilities', async () => {
  expect(await audit(advisories())).toEqual({
    code: 0,
    stdout: '0 vulnerable packages, 0 of severity high or critical\n',
  });
});

test.each([405, 404, 500])('reports the audit as skipped if the registry responds with %s', async (status) => {
  const { code, stdout } = await audit((_, response) => void response.writeHead(status).end());
  expect(stdout).toContain('Skipped');
  expect(code).toBe(0);
});
