import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withTolerantBreakers, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { lookedUpWithoutResult, withQuickRecovery } from '../../../test/gateway/recovery.ts';
import { freeSlot, isFree, sodermalm } from '../../../test/requests/bookings.ts';
import {
  backdateCode,
  backdateWrites,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  runBackgroundJobs,
  unfinishedOperations,
} from '../../../test/requests/codes.ts';
import { bookWithPage, browserOf, withPages } from '../../../test/requests/patient-page.ts';

const ehrs = faultyEhrs();
const ehr = ehrs.of('sandbox-se');
const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => ehrs.faulty(connector, emr))],
  // Long, so that the tests decide when a missing write counts as not made.
  configure: (demo) => withQuickRecovery(withPages(withTolerantBreakers(demo)), { settling_seconds: 60 }),
});
afterAll(() => gateway.close());
beforeEach(() => ehrs.reset());

const browser = browserOf(gateway);
const sweden = careUnitOf(gateway, sodermalm);

/** Waits until background recovery has found out what the EHR did. A write that is missing now counts as not made. */
async function settled(): Promise<void> {
  await eventually(async () => {
    await backdateWrites(gateway);
    await runBackgroundJobs(gateway);
    expect(await unfinishedOperations(gateway, 'sandbox-se')).toEqual([]);
  });
}

describe('a cancellation from the page', () => {
  async function expectCancelled({ appointment, path, slot }: Awaited<ReturnType<typeof booked>>): Promise<void> {
    expect((await browser.open(path)).heading).toBe('Din tid är avbokad');
    expect((await sweden.get(appointment.id)).status).toBe('cancelled');
    expect(await isFree(gateway, slot, sodermalm)).toBe(true);
  }

  async function booked() {
    const slot = await freeSlot(gateway, { careUnit: sodermalm });
    return { slot, ...(await bookWithPage(gateway, { slot })) };
  }

  test('that the EHR makes late frees the time', async () => {
    const booking = await booked();
    const late = ehr.finishLate({ kind: 'release' });
    expect((await browser.submit(booking.path, { action: 'cancel' })).path).toBe(`${booking.path}?result=unknown`);
    await lookedUpWithoutResult(ehr, Date.now());
    await late.finish();
    await settled();
    await expectCancelled(booking);
  });

  test.each([true, false])('in an outage frees the time, or can be sent again (made: %s)', async (isDone) => {
    const booking = await booked();
    ehr.goDownDuring({ kind: 'release', isDone });
    expect((await browser.submit(booking.path, { action: 'cancel' })).path).toBe(`${booking.path}?result=unknown`);
    ehr.comeUp();
    await settled();
    if (!isDone) {
      expect((await browser.open(booking.path)).heading).toBe('Bekräfta din tid');
      await browser.submit(booking.path, { action: 'cancel' });
    }
    await expectCancelled(booking);
  });

  test('of a booking that staff cancel meanwhile succeeds', async () => {
    const booking = await booked();
    ehr.loseResponse({ kind: 'release', isDone: false });
    expect((await browser.submit(booking.path, { action: 'cancel' })).path).toBe(`${booking.path}?result=unknown`);
    await gateway.ehr('sandbox-se').cancel(booking.appointment.id);
    await settled();
    await expectCancelled(booking);
  });
});

describe('a code that is entered on the page', () => {
  const confirmedHeading = 'Din tid är bekräftad';

  test('and whose booking the EHR makes late, books', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    const late = ehr.finishLate({ kind: 'confirm' });
    expect((await browser.enter(path, code)).path).toBe(`${path}?result=unknown`);
    await lookedUpWithoutResult(ehr, Date.now());
    await late.finish();
    await settled();
    expect((await browser.open(path)).heading).toBe(confirmedHeading);
    expect((await sweden.get(appointment.id)).status).toBe('booked');
  });

  test.each([true, false])('in an outage books, or can be entered again (made: %s)', async (isDone) => {
    const { appointment, path, code } = await bookWithPage(gateway);
    ehr.goDownDuring({ kind: 'confirm', isDone });
    expect((await browser.enter(path, code)).path).toBe(`${path}?result=unknown`);
    // The patient tries again, while the EHR is unavailable.
    await browser.enter(path, code);
    ehr.comeUp();
    await settled();
    if (!isDone) {
      expect((await browser.open(path)).heading).toBe('Bekräfta din tid');
      await browser.enter(path, code);
    }
    expect((await browser.open(path)).heading).toBe(confirmedHeading);
    expect((await sweden.get(appointment.id)).status).toBe('booked');
  });

  test('does not book again what staff cancel meanwhile', async () => {
    const { appointment, path, code } = await bookWithPage(gateway);
    ehr.loseResponse({ kind: 'confirm', isDone: false });
    expect((await browser.enter(path, code)).path).toBe(`${path}?result=unknown`);
    await gateway.ehr('sandbox-se').cancel(appointment.id);
    await settled();
    expect((await browser.open(path)).heading).toBe('Din tid är avbokad');
    expect((await browser.enter(path, code)).heading).toBe('Din tid är avbokad');
    expect((await sweden.get(appointment.id)).status).toBe('cancelled');
  });
});

describe('a new code from the page', () => {
  test.each([true, false])(
    'for a booking that staff cancel meanwhile confirms nothing (extended: %s)',
    async (isDone) => {
      const { appointment, path, code } = await bookWithPage(gateway);
      await backdateCode(gateway, confirmationOf(appointment).id, 61);
      ehr.loseResponse({ kind: 'extend', isDone });
      expect((await browser.submit(path, { action: 'resend' })).path).toBe(`${path}?result=unknown`);
      await gateway.ehr('sandbox-se').cancel(appointment.id);
      await settled();
      expect((await browser.open(path)).heading).toBe('Din tid är avbokad');
      expect((await browser.enter(path, code)).heading).toBe('Din tid är avbokad');
      expect((await browser.submit(path, { action: 'resend' })).heading).toBe('Din tid är avbokad');
      expect((await sweden.get(appointment.id)).status).toBe('cancelled');
    },
  );

  test.each([
    ['makes late', 'late'],
    ['makes in an outage', true],
    ['does not make in an outage', false],
  ])('whose extension of the hold the EHR %s: the newest code confirms', async (_, how) => {
    const { appointment, path } = await bookWithPage(gateway);
    await backdateCode(gateway, confirmationOf(appointment).id, 61);
    const late = how === 'late' ? ehr.finishLate({ kind: 'extend' }) : undefined;
    if (how !== 'late') ehr.goDownDuring({ kind: 'extend', isDone: how === true });
    expect((await browser.submit(path, { action: 'resend' })).path).toBe(`${path}?result=unknown`);
    if (late) {
      await lookedUpWithoutResult(ehr, Date.now());
      await late.finish();
    } else {
      ehr.comeUp();
    }
    await settled();
    expect((await browser.open(path)).heading).toBe('Bekräfta din tid');
    await eventually(async () => expect(confirmationOf(await sweden.get(appointment.id)).delivery).toBe('sent'));
    expect((await browser.enter(path, await codeFor(gateway, appointment.id))).heading).toBe('Din tid är bekräftad');
    expect((await sweden.get(appointment.id)).status).toBe('booked');
  });
});
