/** @module-tag any-database */
import { hash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Gateway, type GatewayResponse, type Problem, startGateway } from '../../../../test/gateway/gateway.ts';
import { type Appointment, sodermalm } from '../../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, confirmationOf, eventually } from '../../../../test/requests/codes.ts';
import { consoleBrowser, withConsole } from '../../../../test/requests/console.ts';
import type { EventPage } from '../../../../test/requests/events.ts';
import { demoConsole } from '../../config/console-settings.ts';
import { Secret } from '../../config/environment/secret.ts';
import { sandboxFaults } from '../../ehr/connectors.ts';
import { Problem as ProblemError } from '../../problems/problem.ts';

const operatorPassword = 'password-of-the-demo';
let gateway: Gateway;
let production: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    isDemo: true,
    configure: (demo) => ({
      ...demo,
      http: { ...demo.http, public_url: 'http://127.0.0.1:8080' },
      console: demoConsole({ name: 'demo', password: new Secret(operatorPassword) }),
    }),
  });
  production = await startGateway({ beside: gateway, configure: withConsole });
});
afterAll(async () => {
  await production?.close();
  await gateway?.close();
});

const get = (path: string, from = gateway, host = `127.0.0.1:${from.port}`): Promise<GatewayResponse> =>
  from.request('GET', path, { client: null, headers: { host } });
const hrefsIn = (text: string) => [...text.matchAll(/<a [^>]*?href="(.*?)"/g)].map(([, path = '']) => path);
const secret = () => gateway.credentials('everything').secret;

function plain(text: string): string {
  const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(\w+);/g, (entity, name) => characters[name] ?? entity);
}

/** The command with this name on the start page, without a shell. */
async function commandNamed(name: string) {
  const { text } = await get('/');
  const block = new RegExp(`<pre class="commands"[^>]* aria-label="${name}"><code>(.*?)</code></pre>`, 's').exec(text);
  const command = plain(block?.[1] ?? '');
  const [, path = ''] = /^curl -sS -w '\\n' 'http:\/\/127\.0\.0\.1:\d+(\S+)' \\\n/.exec(command) ?? [];
  const [, body] = / -d '(.*)'$/s.exec(command) ?? [];
  const headers = [...command.matchAll(/-H ["'](.*?): (.*?)["']/g)].map(([, header, value]) => [header, value]);
  const options = { client: null, headers: Object.fromEntries(headers), ...(body !== undefined && { body }) };
  const send = () =>
    gateway.request<Appointment & Problem & EventPage>(body === undefined ? 'GET' : 'POST', path, options);
  return { body, send };
}

describe('the tour on the start page of the demo', () => {
  test('books a free time, with the credentials of the demo', async () => {
    const { body, send } = await commandNamed('Book an appointment');
    const booked = await send();
    expect([booked.status, booked.body]).toMatchObject([201, { status: 'booked' }]);
    expect((await send()).body.reason).toBe('time_slot_unavailable');
    // It shows the next free time.
    expect((await commandNamed('Book an appointment')).body).not.toBe(body);
  });

  test('books with a code, which the patient enters on a page, and shows the events', async () => {
    const { status, body } = await (await commandNamed('Book with a code')).send();
    expect([status, body.status]).toEqual([201, 'awaiting_confirmation']);
    const { page_url: page } = confirmationOf(body);
    const { pathname } = new URL(page ?? '');
    const code = await codeFor(gateway, body.id);
    expect(await get(pathname)).toMatchObject({ status: 200, text: expect.stringContaining('Södermalm') });
    expect((await careUnitOf(gateway, sodermalm).confirm(body.id, code)).status).toBe(200);
    const { send } = await commandNamed('Read the events');
    await eventually(async () => {
      const { events } = (await send()).body;
      const types = events.filter(({ data }) => data.appointment_id === body.id).map(({ type }) => type);
      expect(types).toEqual(['appointment.awaiting_confirmation', 'appointment.booked']);
    });
  });

  test('loses an answer, and books once with the same command', async () => {
    const { send } = await commandNamed('Book with a lost answer');
    expect((await send()).body.reason).toBe('outcome_unknown');
    // Background recovery may be at the write: then callers are told to come back.
    const booked = await eventually(async () => {
      const response = await send();
      expect(response.body.reason).not.toBe('idempotency_in_progress');
      return response;
    });
    expect([booked.status, booked.body.status]).toEqual([201, 'booked']);
    expect((await send()).body.id).toBe(booked.body.id);
  });

  test('names the patients on which the sandbox breaks', async () => {
    const { text } = await get('/');
    for (const { patientId, ehr } of sandboxFaults) {
      expect(text).toContain(`<code>${patientId}</code>`);
      expect(text).toContain(ehr);
    }
  });

  test('still is shown when an EHR is down', async () => {
    const ehr = gateway.deps.ehrs.get('sandbox-no');
    if (!ehr) throw new Error('No sandbox-no');
    const down = vi.spyOn(ehr, 'call').mockRejectedValue(new ProblemError('ehr_unavailable'));
    const { status, text } = await get('/');
    down.mockRestore();
    expect([status, text.includes('No free time was found just now.')]).toEqual([200, true]);
    expect(text).toContain('Book with a code');
  });
});

describe('the start page of the demo', () => {
  test('links to pages that exist, the documents and what they link to among them', async () => {
    const { text } = await get('/');
    const paths = hrefsIn(text);
    expect(paths).toEqual(
      expect.arrayContaining([
        ...['/docs/', '/demo/messages', '/console', '/api/openapi.json', '/problems/'],
        ...['docs/guide/README.md', 'client/README.md', 'examples/booking-page/README.md'].map(
          (it) => `/demo/documents/${it}`,
        ),
      ]),
    );
    // The console asks for a sign-in.
    for (const path of paths.filter((it) => it !== '#content'))
      expect((await get(path)).status, path).toBe(path === '/console' ? 303 : 200);
    const documents = paths.filter((path) => path.startsWith('/demo/documents/'));
    for (const document of documents) {
      const page = await get(document);
      for (const href of hrefsIn(page.text).filter((it) => !/^(https?:|#)/.test(it))) {
        const target = new URL(href, `http://localhost${document}`).pathname;
        expect((await get(target)).status, `${document}: ${href}`).toBe(target === '/console' ? 303 : 200);
      }
    }
  });

  test('shows no file that is not a document of the repository', async () => {
    const others = [
      'package.json',
      'server/src/main.ts',
      'node_modules/pino/README.md',
      '.data/x.md',
      '%2e%2e/x.md',
      'none.md',
    ];
    for (const path of others) expect((await get(`/demo/documents/${path}`)).status, path).toBe(404);
    expect((await get('/demo/documents/README.md', gateway, 'example.org')).status).toBe(404);
    expect((await get('/demo/documents/README.md', production)).status).toBe(404);
  });

  test('opens the console with one click, and no password is in a page', async () => {
    const url = `http://127.0.0.1:${gateway.port}`;
    expect((await get('/')).headers['referrer-policy']).toBe('same-origin');
    for (const from of ['/', '/console/sign-in']) {
      const browser = consoleBrowser(gateway, url);
      const start = await browser.open(from);
      expect(start.html).toMatch(
        /<form method="post" action="[/.]*console\/sign-in\/demo"><button>Open the console as demo</,
      );
      expect(start.html).not.toContain(operatorPassword);
      const page = await browser.submit('/console/sign-in/demo');
      expect(page.text).toContain('demo (admin)');
    }
  });

  test('another site cannot open the console, and another gateway has no such door', async () => {
    const url = `http://127.0.0.1:${gateway.port}`;
    const browser = consoleBrowser(gateway, url);
    const foreign = [{ origin: 'https://example.org' }, { 'sec-fetch-site': 'cross-site' }, { origin: undefined }];
    for (const headers of foreign) {
      expect((await browser.submit('/console/sign-in/demo', {}, headers)).status).toBe(403);
    }
    expect([...browser.cookies.keys()]).toEqual([]);
    const own = consoleBrowser(production);
    await own.open('/console/sign-in');
    const page = await own.submit('/console/sign-in/demo');
    expect([page.status, page.html.includes('as demo')]).toEqual([405, false]);
    expect((await get('/', production)).text).not.toContain('Open the console as demo');
  });

  test('the password of the demo signs in, too', async () => {
    const url = `http://127.0.0.1:${gateway.port}`;
    const browser = consoleBrowser(gateway, url);
    const form = await browser.open('/console');
    expect(form.html).not.toContain('id="code"');
    const page = await browser.submit('/console/sign-in', { name: 'demo', password: operatorPassword });
    expect(page.text).toContain('demo (admin)');
    expect([...browser.cookies.keys()]).toEqual(['crossward-console', 'crossward-browser']);
    // Its password comes from the data directory with each start, unless it has one-time codes.
    const own = await browser.open('/console/your-account');
    expect(own.text).toContain('Set up codes to change the password of this account of the demo.');
    expect(own.html).not.toContain('id="new_password"');
    const change = { password: operatorPassword, new_password: 'a new password', repeated_password: 'a new password' };
    expect((await browser.submit('/console/your-account/password', change)).path).toBe('/console/your-account');
  });

  test('names the EHRs, and what the patient confirms with a code', async () => {
    const { text } = await get('/');
    const items = [...text.matchAll(/<li><code>(sandbox.*?)<\/li>/gs)].map(([item]) =>
      item.replace(/<.*?>/g, '').trim(),
    );
    expect(items).toEqual([
      'sandbox-no with oslo-sentrum, bergen-nord: without a code',
      'sandbox-se with sodermalm, lund: booking with a code',
      'sandbox-uk with riverside, hillview: cancelling with a code',
    ]);
  });

  test('allows its own style sheet and script only', async () => {
    const { headers, text } = await get('/');
    const [, script = ''] = /<script>(.*?)<\/script>/s.exec(text) ?? [];
    expect(String(headers['content-security-policy']).split(';').sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      'img-src data:',
      `script-src 'sha256-${hash('sha256', script, 'base64')}'`,
      "style-src 'self'",
    ]);
    const [, style = ''] = /<link rel="stylesheet" href="(.*?)">/.exec(text) ?? [];
    expect((await get(style)).headers['content-type']).toBe('text/css; charset=utf-8');
    expect((await get('/assets/none.css')).status).toBe(404);
  });
});

describe('the credentials of the demo', () => {
  test.each(['/', '/docs/'])('are in %s', async (path) => {
    expect((await get(path)).text).toContain(secret());
  });

  test.each(['/', '/docs/'])('are not in %s under a name of another machine', async (path) => {
    for (const host of ['example.org', '127.0.0.1.nip.io', '0.0.0.0']) {
      const { status, text } = await get(path, gateway, host);
      expect([status, text.includes(secret())], host).toEqual([200, false]);
    }
  });

  test.each(['/', '/docs/'])('are not in %s of another gateway', async (path) => {
    const { status, text } = await get(path, production);
    expect([status, text.includes(secret()), text.includes('curl')]).toEqual([200, false, false]);
  });
});

test('the start page of another gateway says what it is, and nothing about its EHRs and clients', async () => {
  const { text } = await get('/', production);
  expect(text).toContain('Crossward is a gateway');
  expect(text).not.toMatch(/sandbox|oslo|everything/i);
});
