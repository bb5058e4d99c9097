/** @module-tag any-database */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { pendingCodes, withCodes } from '../../../connector-kit/src/conformance/simulated-codes.test-support.ts';
import type { Subject } from '../../../connector-kit/src/conformance/subject.ts';
import {
  book,
  bookEach,
  consecutiveSlots,
  creationBody,
  freeSlot,
  isFree,
  local,
  riverside,
  type Slot,
  sodermalm,
} from '../../../test/bookings.ts';
import {
  backdateCode,
  bookByCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  expireCode,
  incorrectCodes,
  messagesAbout,
  rowsOf,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/codes.ts';
import { expectEvents } from '../../../test/events.ts';
import { faultyEhrs } from '../../../test/faulty-ehr.ts';
import { startGateway } from '../../../test/gateway.ts';
import { withoutHolds } from '../../../test/limited-ehrs.ts';
import { careUnitPath, withEhr, withTolerantBreakers, wrapConnector } from '../../../test/other-ehrs.ts';
import {
  bookWithPage,
  browserOf,
  cancelWithPage,
  lock,
  pagePath,
  publicUrl,
  withPages,
} from '../../../test/patient-page.ts';
import { expectProblem } from '../../../test/problems.ts';
import { resolvePatientPage } from '../config/patient-page.ts';

const returnUrl = 'https://booking.example.org/done';
const ehrs = faultyEhrs();
const ehrCodes = pendingCodes();
const gateway = await startGateway({
  logLevel: 'trace',
  connectors: [
    wrapConnector((connector, emr) => {
      const faulty = ehrs.faulty(connector, emr);
      if (emr === 'ehr-codes') return withCodes({ connector: faulty } as Subject, ehrCodes).connector;
      return emr === 'no-hold' ? withoutHolds(faulty) : faulty;
    }),
  ],
  configure: (demo) => {
    const extended = ['no-hold', 'ehr-codes'].reduce(
      (configuration, id) => withEhr(configuration, { id, like: 'sandbox-se', policies: {} }),
      withPages(withTolerantBreakers(demo)),
    );
    const patient_page = resolvePatientPage({ link_in_messages: true });
    return {
      ...extended,
      clients: extended.clients.map((client) => ({ ...client, return_urls: [returnUrl] })),
      emrs: extended.emrs.map((emr) => ({
        ...emr,
        care_units: emr.care_units.map((it) => (it.id === 'lund' ? { ...it, patient_page } : it)),
      })),
    };
  },
});
afterAll(() => gateway.close());
beforeEach(() => ehrs.reset());

const browser = browserOf(gateway);
const sweden = careUnitOf(gateway, sodermalm);
const uk = careUnitOf(gateway, riverside);

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

describe('a code', () => {
  test('confirms the booking, typed with spaces, and the page shows it from then on', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    const page = await browser.enter(path, ` ${code.slice(0, 3)} ${code.slice(3)}`);
    expect(page).toMatchObject({ path, status: 200, heading: 'Din tid är bekräftad' });
    expect(page.text).toContain(local(appointment.start).slice(11, 16));
    expect(page.html).not.toContain('<form');
    expect((await sweden.get(appointment.id)).status).toBe('booked');
    expect((await browser.enter(path, incorrectCodes(code, 1)[0] ?? '')).heading).toBe('Din tid är bekräftad');
    await expectEvents(gateway, appointment.id, ['awaiting_confirmation', 'booked']);
  });

  test('confirms all appointments of a cancellation at once', async () => {
    const slots = await consecutiveSlots(gateway, 2, { careUnit: riverside });
    const originals = await bookEach(gateway, slots, { careUnit: riverside });
    const { body } = await uk.changeMany(
      originals.map(({ id }) => id),
      { status: 'cancelled' },
    );
    const [first] = body.appointments;
    if (!first) throw new Error('Nothing was cancelled');
    const path = pagePath(first);
    expect((await browser.open(path)).heading).toBe('Cancel your appointments');
    const page = await browser.enter(path, await codeFor(gateway, first.id));
    expect(page.heading).toBe('Your appointments are cancelled');
    expect(page.html.match(/<dl/g)).toHaveLength(2);
    for (const original of originals) {
      expect((await uk.get(original.id)).status).toBe('cancelled');
      await expectEvents(gateway, original.id, ['booked', 'awaiting_confirmation', 'cancelled']);
    }
  });

  test('counts as an attempt if it is incorrect, and the error belongs to the field', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    const page = await browser.enter(path, incorrectCodes(code, 1)[0] ?? '');
    expect(page).toMatchObject({ path: `${path}?result=incorrect`, status: 200, heading: 'Bekräfta din tid' });
    expect(page.text).toContain('Koden är fel. Du har 4 försök kvar');
    expect(page.html).toContain('<title>Fel: Bekräfta din tid – Södermalm</title>');
    expect(page.html).toContain('<a href="#code">');
    expect(page.html).toMatch(/aria-describedby="code-hint code-error"\s+aria-invalid="true"/);
    expect(confirmationOf(await sweden.get(appointment.id)).attempts_remaining).toBe(4);
    expect((await browser.enter(`${path}?lang=en`, code)).heading).toBe('Your appointment is confirmed');
  });

  test.each(['', '12345', '1234567', 'abcdef', '<script>'])('is no attempt if it cannot be one: %j', async (typed) => {
    const { appointment, path } = await bookWithPage(gateway);
    const page = await browser.enter(path, typed);
    expect(page.path).toBe(`${path}?result=malformed`);
    expect(page.text).toContain('Skriv de 6 siffrorna i koden');
    expect(confirmationOf(await sweden.get(appointment.id)).attempts_remaining).toBe(5);
  });

  test('is accepted no longer after five incorrect ones, but the time can be given back', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    for (const incorrect of incorrectCodes(code, 4)) {
      expect((await browser.enter(path, incorrect)).path).toBe(`${path}?result=incorrect`);
    }
    const page = await browser.enter(path, incorrectCodes(code, 5)[4] ?? '');
    expect(page).toMatchObject({ status: 200, heading: 'För många felaktiga koder' });
    expect(page.html).not.toContain('<input');
    expect((await browser.enter(path, code)).heading).toBe('För många felaktiga koder');
    expectProblem(await sweden.confirm(appointment.id, code), 409, 'confirmation_locked');
    expect((await browser.open(`${path}?step=cancel`)).heading).toBe('Vill du avboka tiden?');
    expect((await browser.submit(path, { action: 'cancel' })).heading).toBe('Din tid är avbokad');
  });

  test('expires', async () => {
    const booking = await bookWithPage(gateway);
    await expireCode(gateway, booking.appointment);
    expect(await browser.enter(booking.path, booking.code)).toMatchObject({
      status: 200,
      heading: 'Koden har gått ut',
    });
    await runBackgroundJobs(gateway);
    expect((await browser.open(booking.path)).heading).toBe('Koden har gått ut');
    const cancellation = await cancelWithPage(gateway);
    await expireCode(gateway, cancellation.appointment);
    const page = await browser.open(cancellation.path);
    expect(page.text).toContain('The code has expired Your appointment was not cancelled. You still have it.');
  });

  test('confirms once, even if the form is sent several times at once', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    const sent = await Promise.all(Array.from({ length: 4 }, () => browser.enter(path, code)));
    expect(sent.map(({ heading }) => heading)).toEqual(Array.from({ length: 4 }, () => 'Din tid är bekräftad'));
    const booked = (await gateway.ehr('sandbox-se').appointments()).filter(({ id }) => id === appointment.id);
    expect(booked).toMatchObject([{ state: 'booked' }]);
  });
});

test('shows the code of an EHR that sends and checks codes itself the same way', async () => {
  const careUnit = careUnitPath('ehr-codes', 'sodermalm');
  const appointment = await book(gateway, { careUnit });
  const path = pagePath(appointment);
  const code = [...ehrCodes.values()].at(-1)?.codes.at(-1) ?? '';
  expect((await browser.enter(path, incorrectCodes(code, 1)[0] ?? '')).text).toContain('Du har 4 försök kvar');
  expect((await browser.enter(path, '')).text).toContain('Skriv koden från meddelandet');
  expect((await browser.enter(path, code)).heading).toBe('Din tid är bekräftad');
});

describe('a new code', () => {
  test('is sent at the intervals and up to the number that the API allows', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const { id } = confirmationOf(appointment);
    const resend = () => browser.submit(path, { action: 'resend' });
    expect((await resend()).path).toBe(`${path}?result=too_soon`);
    for (const count of [2, 3]) {
      await backdateCode(gateway, id, 30);
      const page = await resend();
      expect(page.text).toContain('Vi har skickat en ny kod.');
      await messagesAbout(gateway, appointment.id, count);
    }
    await backdateCode(gateway, id, 30);
    const page = await resend();
    expect(page.text).toContain('Vi kan inte skicka fler koder. Använd den senaste koden du fick.');
    expect(page.html).not.toContain('value="resend"');
    const code = await codeFor(gateway, appointment.id, 3);
    expect((await browser.enter(path, code)).heading).toBe('Din tid är bekräftad');
  });

  test('is offered if the message could not be sent', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const failed = `UPDATE messages SET state = 'failed', completed_at = coalesce(completed_at, clock_timestamp())`;
    await rowsOf(gateway, `${failed} WHERE confirmation_id = $1`, [confirmationOf(appointment).id]);
    const { text } = await browser.open(`${path}?lang=en`);
    expect(text).toContain('We could not send the message with the code. Request a new code.');
    expect(text).not.toContain('We have sent you the code');
  });
});

describe('cancelling', () => {
  test('asks once more, and then frees the time', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { appointment, path } = await bookWithPage(gateway, { slot });
    const question = await browser.open(`${path}?step=cancel&lang=en`);
    expect(question).toMatchObject({ status: 200, heading: 'Cancel your appointment?' });
    expect((await sweden.get(appointment.id)).status).toBe('awaiting_confirmation');
    const page = await browser.submit(`${path}?lang=en`, { action: 'cancel' });
    expect(page).toMatchObject({ path: `${path}?lang=en`, heading: 'Your appointment is cancelled' });
    expect((await sweden.get(appointment.id)).status).toBe('cancelled');
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
    await expectEvents(gateway, appointment.id, ['awaiting_confirmation', 'cancelled']);
  });

  test('does not cancel what has been confirmed', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    await browser.enter(path, code);
    expect((await browser.submit(path, { action: 'cancel' })).heading).toBe('Din tid är bekräftad');
    expect((await browser.open(`${path}?step=cancel`)).heading).toBe('Din tid är bekräftad');
    expect((await sweden.get(appointment.id)).status).toBe('booked');
  });

  test('is not offered for a cancellation, which ends on its own', async () => {
    const { original, path } = await cancelWithPage(gateway);
    expect((await browser.open(`${path}?step=cancel`)).heading).toBe('Cancel your appointment');
    expect((await browser.submit(path, { action: 'cancel' })).heading).toBe('Cancel your appointment');
    expect((await uk.get(original.id)).status).toBe('booked');
  });

  test('by staff, directly in the EHR, shows too', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    await browser.enter(path, code);
    await gateway.ehr('sandbox-se').cancel(appointment.id);
    expect((await browser.open(path)).heading).toBe('Din tid är avbokad');
    const awaiting = await bookWithPage(gateway);
    await gateway.ehr('sandbox-se').cancel(awaiting.appointment.id);
    expect((await browser.open(awaiting.path)).heading).toBe('Din tid är avbokad');
  });
});

describe('an EHR that is unavailable', () => {
  const ehr = ehrs.of('sandbox-se');

  test('does not use up the code', async () => {
    const { path, code } = await bookWithPage(gateway);
    ehr.goDown();
    const page = await browser.open(path);
    expect(page).toMatchObject({ status: 503, heading: 'Försök igen om en stund' });
    expect(page.headers['retry-after']).toBe('30');
    expect((await browser.enter(path, code)).path).toBe(`${path}?result=unavailable`);
    ehr.comeUp();
    const back = await browser.open(`${path}?result=unavailable`);
    expect(back.text).toContain('Vi fick ingen kontakt med tidboken, så ingenting har ändrats.');
    expect((await browser.enter(path, code)).heading).toBe('Din tid är bekräftad');
  });

  test('cannot cancel a locked booking, and the page says so', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    await lock(gateway, appointment, code);
    await browser.open(path);
    ehr.goDown();
    const page = await browser.submit(path, { action: 'cancel' });
    ehr.comeUp();
    expect(page).toMatchObject({ path: `${path}?result=unavailable`, heading: expect.any(String) });
    expect(page.text).toContain('Vi fick ingen kontakt med tidboken, så ingenting har ändrats.');
  });

  test('does not hide an outcome', async () => {
    const { path, code } = await bookWithPage(gateway);
    await browser.enter(path, code);
    ehr.goDown();
    expect(await browser.open(path)).toMatchObject({ status: 200, heading: 'Din tid är bekräftad' });
  });

  test.each([true, false])('may have booked or not: the page waits for it (booked: %s)', async (isDone) => {
    const { appointment, path, code } = await bookWithPage(gateway);
    ehr.goDownDuring({ kind: 'confirm', isDone });
    const page = await browser.enter(path, code);
    expect(page).toMatchObject({ path: `${path}?result=unknown`, status: 200, heading: 'Vi väntar på svar' });
    expect(page.text).not.toContain('Tidboken');
    ehr.comeUp();
    await eventually(async () => {
      await runBackgroundJobs(gateway);
      expect(await unfinishedOperations(gateway, 'sandbox-se')).toEqual([]);
    });
    const later = await browser.open(path);
    expect(later.heading).toBe(isDone ? 'Din tid är bekräftad' : 'Bekräfta din tid');
    if (!isDone) expect((await browser.enter(path, code)).heading).toBe('Din tid är bekräftad');
    expect((await sweden.get(appointment.id)).status).toBe('booked');
  });
});

test('says that the time was taken, if the EHR could not hold it', async () => {
  const careUnit = careUnitPath('no-hold', 'sodermalm');
  const slot = await freeSlot(gateway, { careUnit });
  const slower = await bookWithPage(gateway, { careUnit, slot, patientId: 'p-6' });
  const faster = await bookWithPage(gateway, { careUnit, slot, patientId: 'p-7' });
  expect((await browser.enter(faster.path, faster.code)).heading).toBe('Din tid är bekräftad');
  const page = await browser.enter(slower.path, slower.code);
  expect(page).toMatchObject({ path: `${slower.path}?result=taken`, heading: 'Tiden är upptagen' });
  expect(page.text).toContain('Någon annan fick tiden innan den bekräftades. Boka en ny tid.');
  expect((await browser.open(slower.path)).heading).toBe('Din tid är avbokad');
});

describe('the way back', () => {
  const linkIn = (html: string) => /class="button" href="(https:[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');

  test('carries the outcome and the id, once there is one', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { body: appointment } = await sweden.create({
      ...creationBody(slot),
      return_url: `${returnUrl}?visit=7&outcome=confirmed`,
    });
    const path = pagePath(appointment);
    expect(linkIn((await browser.open(path)).html)).toBeUndefined();
    const page = await browser.enter(path, await codeFor(gateway, appointment.id));
    expect(linkIn(page.html)).toBe(`${returnUrl}?visit=7&outcome=confirmed&appointment_id=${appointment.id}`);
  });

  test.each([
    ['cancelled', (path: string) => browser.submit(path, { action: 'cancel' })],
    ['expired', async (path: string, code: string) => browser.enter(path, code)],
  ])('says %s', async (outcome, end) => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const { body: appointment } = await sweden.create({ ...creationBody(slot), return_url: returnUrl });
    const code = await codeFor(gateway, appointment.id);
    if (outcome === 'expired') await lock(gateway, appointment, code);
    const { html } = await end(pagePath(appointment), code);
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=${outcome}&appointment_id=${appointment.id}`);
  });

  test('says cancelled after a cancellation', async () => {
    const original = await book(gateway, { careUnit: riverside });
    const { body: view } = await uk.cancel(original.id, { return_url: returnUrl });
    const { html } = await browser.enter(pagePath(view), await codeFor(gateway, view.id));
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=cancelled&appointment_id=${view.id}`);
  });

  test('is there after a reschedule that needs a code', async () => {
    const slots = await consecutiveSlots(gateway, 2, { careUnit: sodermalm });
    const [first, last] = slots as [Slot, Slot];
    const { id } = await bookByCode(gateway, { slot: first });
    const { body } = await sweden.changeMany([id], { start: first.start, end: last.end, return_url: returnUrl });
    const added = body.appointments.find((it) => it.id !== id);
    if (!added) throw new Error('The reschedule adds no appointment');
    const { html } = await browser.enter(pagePath(added), await codeFor(gateway, added.id));
    expect(linkIn(html)).toBe(`${returnUrl}?outcome=confirmed&appointment_id=${added.id}`);
  });

  test('leads only where the configuration of the client allows', async () => {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    const response = await sweden.create({ ...creationBody(slot), return_url: 'https://elsewhere.example.org/done' });
    expectProblem(response, 400, 'return_url_not_allowed');
    expect(response.body.errors).toMatchObject([{ pointer: '/return_url' }]);
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
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
      limits: { ...demo.limits, page_requests_per_minute: 4 },
      http: { ...withPages(demo).http, trusted_proxies: ['127.0.0.1'] },
    }),
  });
  onTestFinished(() => limited.close());
  const { open } = browserOf(limited);
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const { path } = await bookWithPage(limited);
  for (const last of [1, 2, 3, 4]) expect((await open(path, from(`192.0.2.${last}`))).status).toBe(200);
  const page = await open(`${path}?lang=en`, from('192.0.2.5'));
  expect(page).toMatchObject({ status: 429, heading: 'Too many attempts' });
  expect(Number(page.headers['retry-after'])).toBeGreaterThan(0);
  for (const last of 'abcd') expect((await open(`/c/${last.repeat(24)}`, from('192.0.2.9'))).status).toBe(404);
  expect((await open(`/c/${'e'.repeat(24)}`, from('192.0.2.9'))).status).toBe(429);
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
