import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { failableWrites } from '../../../test/ehrs/failing-writes.ts';
import { careUnitPath, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  at,
  book,
  bookEach,
  creationBody,
  freeSlot,
  freeSlots,
  nextMonth,
} from '../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  type AppointmentsResponse,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  incorrectCodes,
  rowsOf,
} from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const writes = failableWrites();
const { fail, stopFailing } = writes;
beforeEach(writes.reset);

const gateway = await startGateway({ connectors: [wrapConnector(writes.failable)] });
afterAll(() => gateway.close());

describe('an EHR whose writes fail', () => {
  const norway = careUnitOf(gateway, careUnitPath('sandbox-no', 'oslo-sentrum'));
  const swedish = careUnitPath('sandbox-se', 'sodermalm');
  const sweden = careUnitOf(gateway, swedish);
  const british = careUnitPath('sandbox-uk', 'riverside');
  const uk = careUnitOf(gateway, british);

  const failures = [
    ['unavailable', 503, 'ehr_unavailable'],
    ['rejected', 502, 'ehr_rejected'],
    // After a time-out of a write, the outcome is unknown.
    ['timeout', 504, 'outcome_unknown'],
    ['outcome_unknown', 504, 'outcome_unknown'],
  ] as const;

  describe.each(failures)('%s', (kind, status, reason) => {
    const expectFailure = (response: AppointmentResponse | AppointmentsResponse) => {
      expectProblem(response, status, reason);
      expect(response.body).toMatchObject({ origin: 'ehr' });
      if (kind === 'unavailable') expect(response.headers['retry-after']).toBe('7');
      stopFailing();
    };
    const failOnce = () => {
      stopFailing();
      fail(1, kind, kind === 'unavailable' ? { retryAfterSeconds: 7 } : {});
    };

    test('changes nothing', async () => {
      const slot = await freeSlot(gateway);
      failOnce();
      expectFailure(await norway.create(creationBody(slot)));
      expect((await freeSlots(gateway)).map(({ start }) => start)).toContain(slot.start);

      const [a, b] = (await bookEach(gateway, await freeSlots(gateway, { limit: 2 }), {})) as [
        Appointment,
        Appointment,
      ];
      const ids = [a.id, b.id];
      for (const body of [{ comment: 'x' }, { status: 'cancelled' }] as const) {
        failOnce();
        expectFailure(await norway.change(a.id, body));
        failOnce();
        expectFailure(await norway.changeMany(ids, body));
      }
      const to = await freeSlot(gateway, { from: nextMonth() });
      failOnce();
      expectFailure(await norway.changeMany(ids, at(to)));
      expect(await norway.getAll(ids)).toEqual([a, b]);

      const held = await freeSlot(gateway, { careUnit: swedish });
      failOnce();
      expectFailure(await sweden.create({ ...creationBody(held), patient_id: 'p-11' }));
      expect(await sweden.list('patient_id=p-11')).toEqual([]);
    });

    test('keeps the code valid if a confirmation fails', async () => {
      const held = await book(gateway, { careUnit: swedish });
      const original = await book(gateway, { careUnit: british });
      const { body: view } = await uk.cancel(original.id);
      for (const [careUnit, awaiting, confirmed] of [
        [sweden, held, 'booked'],
        [uk, view, 'cancelled'],
      ] as const) {
        const code = await codeFor(gateway, awaiting.id);
        failOnce();
        expectFailure(await careUnit.confirm(awaiting.id, code));
        const pending = { ...confirmationOf(awaiting), delivery: expect.stringMatching(/^(queued|sent)$/) };
        expect(await careUnit.get(awaiting.id)).toEqual({ ...awaiting, confirmation: pending });
        await eventually(async () => {
          const rows = await rowsOf(gateway, `SELECT state FROM confirmation_items WHERE appointment_id = $1`, [
            awaiting.id,
          ]);
          expect(rows).toEqual([{ state: 'pending' }]);
        });
        expect(await careUnit.confirm(awaiting.id, incorrectCodes(code, 1)[0] ?? '')).toMatchObject({
          status: 400,
          body: { attempts_remaining: 4 },
        });
        expect(await careUnit.confirm(awaiting.id, code)).toMatchObject({ status: 200, body: { status: confirmed } });
      }
    });
  });

  test('without Retry-After gets a response with one', async () => {
    const slot = await freeSlot(gateway);
    fail(1, 'unavailable');
    const response = await norway.create(creationBody(slot));
    expectProblem(response, 503, 'ehr_unavailable');
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('after performing a write leads to one confirmed appointment', async () => {
    const held = await book(gateway, { careUnit: swedish });
    const code = await codeFor(gateway, held.id);
    fail(1, 'outcome_unknown', { after: true });
    expectProblem(await sweden.confirm(held.id, code), 504, 'outcome_unknown');
    await eventually(async () => expect(await sweden.get(held.id)).toMatchObject({ status: 'booked' }));
    expect(await sweden.confirm(held.id, code)).toMatchObject({ status: 200, body: { id: held.id, status: 'booked' } });
  });
});

test('an expired hold is released as soon as the EHR accepts the release, and no code confirms it before', async () => {
  const careUnit = careUnitOf(gateway, careUnitPath('sandbox-se', 'sodermalm'));
  const held = await book(gateway, { careUnit: careUnitPath('sandbox-se', 'sodermalm') });
  const code = await codeFor(gateway, held.id);
  const { id } = confirmationOf(held);
  const setExpiry = (time: string) =>
    rowsOf(gateway, `UPDATE confirmations SET expires_at = clock_timestamp() + interval '${time}' WHERE id = $1`, [id]);
  const expectState = (state: string, inEhr: string) =>
    eventually(async () => {
      expect(await rowsOf(gateway, 'SELECT state FROM confirmation_items WHERE confirmation_id = $1', [id])).toEqual([
        { state },
      ]);
      const standing = await gateway.ehr('sandbox-se').appointments();
      expect(standing.find((it) => it.id === held.id)).toMatchObject({ state: inEhr });
    });
  for (let call = 1; call <= 100; call++) fail(call, 'unavailable');
  await setExpiry('0 seconds');
  await expectState('expiring', 'held');
  expect(await careUnit.get(held.id)).toMatchObject({ status: 'cancelled', confirmation: null });
  // Not even after the clock was set back.
  await setExpiry('1 minute');
  expectProblem(await careUnit.confirm(held.id, code), 409, 'confirmation_expired');
  expectProblem(await careUnit.resend(held.id), 409, 'confirmation_expired');
  stopFailing();
  await setExpiry('0 seconds');
  await expectState('expired', 'cancelled');
});
