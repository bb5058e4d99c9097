import { execFile } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { startGateway } from '../test/gateway/gateway.ts';
import { browserTimeout, isBrowserMissing, startBrowser } from '../test/processes/browser.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Runs in the page. */
const script = `async ([credentials, content]) => {
  const { createCrosswardClient, isProblem } = await import('/client/index.js');
  const client = createCrosswardClient({ baseUrl: location.origin, ...credentials });
  const oslo = client.careUnit('sandbox-no', 'oslo-sentrum');
  const { given_name } = await oslo.patients.get('no_personal_number:15859000026');
  const document = await oslo.documents.create('p-3', { content: new File([content], 'a.txt', { type: 'text/plain' }) });
  const response = await oslo.documents.content('p-3', document.id);
  const error = await oslo.appointments.get('unknown').catch((error) => error);
  return [given_name, await response.text(), isProblem(error, 'appointment_not_found')];
}`;

// Skipped without Chromium on a developer's machine. CI fails instead.
describe.skipIf(isBrowserMissing())('in a browser', browserTimeout, () => {
  test('the client reads a patient, stores a document and throws problems', async () => {
    const gateway = await startGateway();
    onTestFinished(() => gateway.close());
    const browser = await startBrowser(`http://127.0.0.1:${gateway.port}`);
    onTestFinished(() => browser.close());
    const built = await mkdtemp(join(inject('runFolder'), 'client-'));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await promisify(execFile)(process.execPath, [tsc, '-p', 'client/tsconfig.build.json', '--outDir', built], {
      cwd: root,
    });
    // The page and the files have the gateway's origin, so that the browser permits the requests.
    await browser.context.route('**/client/*', async (route) => {
      // Not a page of the gateway: their content security policy forbids scripts.
      if (route.request().isNavigationRequest()) return route.fulfill({ body: '', contentType: 'text/html' });
      const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
      const file =
        name === 'openapi-fetch' ? join(root, 'node_modules/openapi-fetch/dist/index.mjs') : join(built, name);
      const body = (await readFile(file, 'utf8')).replace("from 'openapi-fetch'", "from './openapi-fetch'");
      return route.fulfill({ body, contentType: 'text/javascript' });
    });
    const page = await browser.context.newPage();
    await page.goto('/client/page');

    const { id, secret } = gateway.credentials('everything');
    const credentials = { clientId: id, clientSecret: secret };
    const result = await page.evaluate(`(${script})(${JSON.stringify([credentials, 'Refer to the eye clinic'])})`);
    expect(result).toEqual(['Lykkelig', 'Refer to the eye clinic', true]);
  });
});
