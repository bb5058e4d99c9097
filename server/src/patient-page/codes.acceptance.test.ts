/** @module-tag any-database */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import {
  bookEach,
  consecutiveSlots,
  freeSlot,
  isFree,
  local,
  riverside,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  codeFor,
  confirmationOf,
  eventually,
  expireCode,
  incorrectCodes,
  messagesAbout,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import { expectEvents } from '../../../test/requests/events.ts';
import { bookWithPage, cancelWithPage, lock, pagePath, setDelivery } from '../../../test/requests/patient-page.ts';
import { expectProblem } from '../../../test/requests/problems.ts';
import { startPages } from './test-pages.ts';

const { gateway, ehrs, browser, sweden, uk } = await startPages();
afterAll(() => gateway.close());
beforeEach(() => ehrs.reset());

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
    const until = local(confirmationOf(appointment).expires_at).slice(11, 16);
    expect(page.text).toContain(
      `kl. ${until}. Släpp den för att boka den igen nu. Du kan också kontakta mottagningen.`,
    );
    expect(page.html).toMatch(/<a class="button"[^>]*>Släpp tiden<\/a>/);
    expect((await browser.enter(path, code)).heading).toBe('För många felaktiga koder');
    expectProblem(await sweden.confirm(appointment.id, code), 409, 'confirmation_locked');
    expect((await browser.open(`${path}?step=cancel`)).heading).toBe('Vill du släppa tiden?');
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

describe('a new code', () => {
  test('is sent at the intervals and up to the number that the API allows', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const { id } = confirmationOf(appointment);
    const resend = () => browser.submit(path, { action: 'resend' });
    expect((await resend()).path).toBe(`${path}?result=too_soon`);
    for (const count of [2, 3]) {
      await backdateCode(gateway, id, 30);
      const page = await resend();
      expect(page.text).toContain('En ny kod är på väg.');
      await messagesAbout(gateway, appointment.id, count);
    }
    await backdateCode(gateway, id, 30);
    const page = await resend();
    expect(page.text).toContain('Vi kan inte skicka fler koder. Använd den senaste koden du fick.');
    expect(page.html).not.toContain('value="resend"');
    const code = await codeFor(gateway, appointment.id, 3);
    expect((await browser.enter(path, code)).heading).toBe('Din tid är bekräftad');
  });

  test('is offered once the first one has left or failed, and the page says what became of that', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const open = () => browser.open(`${path}?lang=en`);
    const offer = 'value="resend"';
    const sent = await open();
    expect(sent.text).toContain('We have sent you the code by SMS.');
    expect(sent.html).toContain(offer);
    await setDelivery(gateway, appointment, 'queued');
    const sending = await open();
    expect(sending.text).toContain('We are sending you the code by SMS.');
    expect(sending.html).not.toContain(offer);
    await setDelivery(gateway, appointment, 'delayed');
    const late = await open();
    expect(late.text).toContain('The message with the code is late.');
    expect(late.text).not.toMatch(/We (have sent|are sending) you the code/);
    expect(late.html).not.toContain(offer);
    await setDelivery(gateway, appointment, 'failed');
    expect((await open()).html).toContain(offer);
  });

  test('is on its way, and the page does not say so if it is late too', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    const open = () => browser.open(`${path}?result=sent&lang=en`);
    expect((await open()).text).toContain('A new code is on its way.');
    await setDelivery(gateway, appointment, 'delayed');
    const { text } = await open();
    expect(text).toContain('The message with the code is late.');
    expect(text).not.toContain('A new code is on its way.');
  });

  test('is offered if the message could not be sent', async () => {
    const { appointment, path } = await bookWithPage(gateway);
    await setDelivery(gateway, appointment, 'failed');
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

test('a locked booking whose time nobody holds is not said to be held', async () => {
  const careUnit = careUnitPath('no-hold', 'sodermalm');
  const { appointment, path, code } = await bookWithPage(gateway, { careUnit });
  await lock(gateway, appointment, code, careUnit);
  const page = await browser.open(`${path}?lang=en`);
  expect(page.heading).toBe('Too many incorrect codes');
  expect(page.text).not.toContain('held for you');
  expect(page.html).not.toContain('Release');
});
