/** @module-tag any-database */
import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { book, local, sodermalm } from '../../../test/requests/bookings.ts';
import { backdateCode, confirmationOf, eventually, messagesAbout, rowsOf } from '../../../test/requests/codes.ts';
import { bookWithPage, browserOf, publicUrl, withPages } from '../../../test/requests/patient-page.ts';
import { startPages } from './test-pages.ts';

const { gateway, browser, sweden } = await startPages();
afterAll(() => gateway.close());

describe('the link', () => {
  test('is in every response, is not guessable, and stays the same', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const { page_url } = confirmationOf(appointment);
    expect(page_url).toMatch(/^https:\/\/appointments\.example\.org\/c\/[A-Za-z0-9_-]{24}$/);
    const shown = await sweden.get(appointment.id);
    expect(confirmationOf(shown).page_url).toBe(page_url);
    const [listed] = (await sweden.list(`patient_id=p-3&status=awaiting_confirmation&limit=500`)).filter(
      ({ id }) => id === appointment.id,
    );
    expect(listed && confirmationOf(listed).page_url).toBe(page_url);
    await backdateCode(gateway, confirmationOf(appointment).id, 30);
    expect(confirmationOf((await sweden.resend(appointment.id)).body).page_url).toBe(page_url);
    expect((await browser.open(path)).status).toBe(200);
    const other = await book(gateway, { careUnit: sodermalm });
    expect(confirmationOf(other).page_url).not.toBe(page_url);
  });

  test('is in messages if the care unit wants it, the same in each', async () => {
    const careUnit = '/api/emrs/sandbox-se/care-units/lund';
    const { appointment, path } = await bookWithPage(gateway, { careUnit, resourceId: 'r-6' });
    await backdateCode(gateway, confirmationOf(appointment).id, 30);
    await browser.submit(path, { action: 'resend' });
    for (const { text } of await messagesAbout(gateway, appointment.id, 2)) {
      expect(text).toMatch(/Skriv koden här: \S+$/);
      expect(text.endsWith(` ${confirmationOf(appointment).page_url}`)).toBe(true);
    }
    const other = await bookWithPage(gateway);
    const [message] = await messagesAbout(gateway, other.appointment.id);
    expect(message?.text).not.toContain('http');
  });

  test('is not stored, and contains no identifier', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const token = path.slice('/c/'.length);
    const tables = await rowsOf<{ name: string }>(
      gateway,
      `SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables`,
    );
    for (const { name } of tables) {
      const found = await rowsOf(gateway, `SELECT 1 FROM ${name} AS t WHERE t::text LIKE '%' || $1 || '%'`, [token]);
      expect(found, name).toEqual([]);
    }
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain(appointment.id);
  });

  test.each(['AAAAAAAAAAAAAAAAAAAAAAAA', 'short', '%2e%2e%2fdemo', `${'a'.repeat(300)}`])(
    'shows nothing if it is not valid: %s',
    async (token) => {
      const page = await browser.open(`/c/${token}`, { 'accept-language': 'nn-NO,en;q=0.5' });
      expect(page).toMatchObject({ status: 404, heading: 'Lenken er ikke gyldig' });
      expect(page.text).toContain('bestill på nytt der du bestilte, eller ring klinikken');
      expect((await browser.post(`/c/${token}`, { action: 'confirm', code: '123456' })).status).toBe(404);
    },
  );

  test('ends a day after the confirmation', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const age = (interval: string) =>
      rowsOf(gateway, `UPDATE confirmations SET expires_at = clock_timestamp() - $2::interval WHERE id = $1`, [
        confirmationOf(appointment).id,
        interval,
      ]);
    await age('23 hours');
    expect((await browser.open(path)).heading).toBe('Koden har gått ut');
    await age('25 hours');
    expect(await browser.open(path)).toMatchObject({ status: 404, heading: 'This link is not valid' });
  });
});

describe('the page', () => {
  test('shows time, place and resource in the language of the care unit or another one', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const page = await browser.open(path);
    expect(page).toMatchObject({ status: 200, heading: 'Bekräfta din tid' });
    const [from, to] = [local(appointment.start).slice(11, 16), local(appointment.end).slice(11, 16)];
    expect(page.text).toContain(`${from} till ${to} Plats Södermalm Hos `);
    expect(page.html).toContain('<html lang="sv">');
    expect(page.html).toContain(`<time datetime="${appointment.start}">`);
    const norwegian = await browser.open(`${path}?lang=nb`);
    expect(norwegian).toMatchObject({ status: 200, heading: 'Bekreft timen' });
    expect(norwegian.text).toContain(`${from} til ${to} Sted Södermalm Hos `);
    expect((await browser.open(`${path}?lang=en`)).heading).toBe('Confirm your appointment');
    expect((await browser.open(`${path}?lang=de`)).heading).toBe('Bekräfta din tid');
  });

  test('shows nothing about the patient, and no identifier', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const { html } = await browser.open(path);
    const { body: patient } = await gateway.request<Record<string, string>>('GET', `${sodermalm}/patients/p-3`);
    const confirmation = confirmationOf(appointment);
    for (const text of [
      ...[patient.given_name, patient.family_name, patient.phone, patient.email, patient.birth_date],
      ...[appointment.id, confirmation.id, appointment.resource_id, 'p-3', 'sandbox-se'],
    ]) {
      if (text) expect(html).not.toContain(text);
    }
  });

  test('loads nothing from elsewhere, runs no script, and is stored nowhere', async () => {
    const { path } = await bookWithPage(gateway);
    const { headers, html } = await browser.open(path);
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none';style-src 'self';img-src 'self';script-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-robots-tag': 'noindex, nofollow',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['set-cookie']).toBeUndefined();
    expect(html).not.toMatch(/<script|<style| style=|https?:/);
    const style = /href="(assets\/[0-9a-f]{16}\.css)"/.exec(html)?.[1];
    const response = await gateway.request('GET', `/c/${style}`, { client: null });
    expect(response.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(response.text).toContain(await readFile(new URL('./style.css', import.meta.url), 'utf8'));
  });

  test('leaves no token in the log or the metrics', async () => {
    const { path, code } = await bookWithPage(gateway);
    await browser.enter(path, code);
    await browser.open(`${path}/deeper`);
    const token = path.slice('/c/'.length);
    const log = await eventually(() => {
      const lines = gateway.logLines.filter((line) => line.includes('"/c/:token"'));
      expect(lines.length).toBeGreaterThanOrEqual(2);
      return gateway.logLines.join('\n');
    });
    expect(log).not.toContain(token);
    expect(log).not.toContain(code);
    const { text: metrics } = await gateway.request('GET', '/metrics', { client: null });
    expect(metrics).toContain('route="/c/:token"');
    expect(metrics).not.toContain(token);
  });
});

describe('a form', () => {
  test.each([
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ origin: 'https://elsewhere.example.org' }],
  ])('of another site does nothing: %j', async (headers) => {
    const { appointment, path, code } = await bookWithPage(gateway);
    const response = await browser.post(path, { action: 'confirm', code }, headers);
    expect(response).toMatchObject({ status: 303, headers: { location: path.slice('/c/'.length) } });
    expect((await sweden.get(appointment.id)).status).toBe('awaiting_confirmation');
  });

  test.each([[{ 'sec-fetch-site': 'same-origin', origin: 'null' }], [{ origin: 'null' }], [{ origin: publicUrl }]])(
    'of the page works: %j',
    async (headers) => {
      const { appointment, path, code } = await bookWithPage(gateway);
      await browser.post(path, { action: 'confirm', code }, headers);
      expect((await sweden.get(appointment.id)).status).toBe('booked');
    },
  );

  test('that the page does not have does nothing', async () => {
    const { path } = await bookWithPage(gateway);
    expect((await browser.submit(path, { action: 'delete' })).heading).toBe('Bekräfta din tid');
    expect((await browser.submit(path, {})).heading).toBe('Bekräfta din tid');
    const json = await gateway.request('POST', path, { client: null, body: { action: 'cancel' } });
    expect(json.status).toBe(415);
    expect(json.headers['content-type']).toBe('text/html; charset=utf-8');
    const large = await browser.post(path, { code: '1'.repeat(5000) });
    expect(large.status).toBe(413);
  });
});

test('limits the requests for one link and from one address', async () => {
  const limited = await startGateway({
    configure: (demo) => ({
      ...withPages(demo),
      limits: { ...demo.limits, page_requests_per_minute: 1 },
      http: { ...withPages(demo).http, trusted_proxies: ['127.0.0.1'] },
    }),
  });
  onTestFinished(() => limited.close());
  const { open } = browserOf(limited);
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const { path } = await bookWithPage(limited);
  // One more is allowed after a minute.
  expect((await open(path, from('192.0.2.1'))).status).toBe(200);
  const page = await open(`${path}?lang=en`, from('192.0.2.2'));
  expect(page).toMatchObject({ status: 429, heading: 'Too many attempts' });
  expect(Number(page.headers['retry-after'])).toBeGreaterThan(0);
  expect((await open(`/c/${'a'.repeat(24)}`, from('192.0.2.9'))).status).toBe(404);
  expect((await open(`/c/${'b'.repeat(24)}`, from('192.0.2.9'))).status).toBe(429);
});

test('there is none without a public URL', async () => {
  const without = await startGateway();
  onTestFinished(() => without.close());
  const held = await book(without, { careUnit: sodermalm });
  expect(confirmationOf(held).page_url).toBeNull();
  expect(await without.request('GET', `/c/${'a'.repeat(24)}`, { client: null })).toMatchObject({
    status: 404,
    body: { reason: 'route_not_found' },
  });
});

test('ends when its client may no longer change appointments of the care unit', async () => {
  const { path } = await bookWithPage(gateway);
  const { clients } = gateway.deps;
  const { find } = clients;
  onTestFinished(() => void Object.assign(clients, { find }));
  Object.assign(clients, { find: (id: string) => ({ ...find(id), grants: new Map() }) });
  expect((await browser.open(path)).status).toBe(404);
});
