/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  creationBody,
  freeSlot,
  oslo,
  type Slot,
  sodermalm,
} from '../../../test/requests/bookings.ts';
import { careUnitOf, codeFor, eventually } from '../../../test/requests/codes.ts';
import { expectEvents } from '../../../test/requests/events.ts';
import { type AppointmentResponse, expectStored, keysOf, newKey } from '../../../test/requests/idempotency-keys.ts';
import { expectProblem } from '../../../test/requests/problems.ts';
import { createDirectory } from './directory.ts';
import { sandboxFaults } from './faults.ts';

const impatient = 'impatient';
const timeoutMs = 2_000;
const gateway = await startGateway({
  configure: (demo) => {
    const more = withEhr(demo, { id: impatient, like: 'sandbox-no', policies: {} });
    const emrs = more.emrs.map((emr) => {
      const isImpatient = emr.id === impatient;
      const limits = { changes_seconds: 1, ...(isImpatient && { timeout_ms: timeoutMs }) };
      return { ...emr, connection: { ...emr.connection, ...limits } };
    });
    return { ...more, emrs };
  },
});
afterAll(() => gateway.close());
const { send, at } = keysOf(gateway);

/**
 * A booking of the next free time for this patient, to send with one key as often as needed. While a background job looks
 * for an earlier one, it is sent again, as the problem says.
 */
async function bookingFor(patientId: string, careUnit = oslo) {
  const slot = await freeSlot(gateway, { careUnit });
  const key = newKey();
  const body = { ...creationBody(slot), patient_id: patientId };
  const sendBooking = () =>
    eventually(async () => {
      const response = await send({ method: 'POST', path: `${careUnit}/appointments`, body }, key);
      expect(response.body).not.toMatchObject({ reason: 'idempotency_in_progress' });
      return response;
    });
  return { slot, sendBooking };
}

const patientAt = (careUnit: string, id: string) =>
  gateway.request<{ id: string; reason: string }>('GET', `${careUnit}/patients/${id}`);

async function expectOneAppointment(response: AppointmentResponse, slot: Slot): Promise<void> {
  expect([response.status, response.body.status]).toEqual([201, 'booked']);
  expect(await at(slot)).toEqual([{ id: response.body.id, state: 'booked' }]);
}

describe('for the patients of the list, the sandbox', () => {
  test('takes three seconds to look one up', async () => {
    const begun = performance.now();
    const { status, body } = await patientAt(oslo, 'p-slow');
    expect([status, body.id]).toEqual([200, 'emr_id:p-slow']);
    // A timer of Node.js may end a millisecond early.
    expect(performance.now() - begun).toBeGreaterThan(2_990);
  });

  test('never answers every second look-up, and nothing is changed', async () => {
    const careUnit = careUnitPath(impatient, 'oslo-sentrum');
    const { slot, sendBooking } = await bookingFor('p-timeout', careUnit);
    expectProblem(await sendBooking(), 504, 'ehr_timeout');
    expect(await at(slot, impatient)).toEqual([]);
    expect((await patientAt(careUnit, 'p-timeout')).status).toBe(200);
    expect((await patientAt(careUnit, 'p-timeout')).body).toMatchObject({ reason: 'ehr_timeout', retryable: true });
    const booked = await sendBooking();
    expect([booked.status, await at(slot, impatient)]).toEqual([201, [{ id: booked.body.id, state: 'booked' }]]);
  });

  test('is unavailable at every second look-up, and says when to try again', async () => {
    const { slot, sendBooking } = await bookingFor('p-unavailable');
    const first = await sendBooking();
    expectProblem(first, 503, 'ehr_unavailable');
    expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
    expect(await at(slot)).toEqual([]);
    await expectOneAppointment(await sendBooking(), slot);
  });

  test('loses the answer to a booking that it has made', async () => {
    const { slot, sendBooking } = await bookingFor('p-lost');
    expectProblem(await sendBooking(), 504, 'outcome_unknown');
    const [made] = await at(slot);
    const again = await sendBooking();
    expect(again.body.id).toBe(made?.id);
    await expectOneAppointment(again, slot);
    expectStored(await sendBooking(), again);
  });

  test('loses the answer to a hold, and the patient still gets a code that works', async () => {
    const { slot, sendBooking } = await bookingFor('p-lost', sodermalm);
    expectProblem(await sendBooking(), 504, 'outcome_unknown');
    // A background job may have released the hold before the retry, which then holds anew: that answer is lost, too.
    const { status, body } = await eventually(async () => {
      const response = await sendBooking();
      expect(response.body).not.toMatchObject({ reason: 'outcome_unknown' });
      return response;
    });
    expect([status, body.status]).toEqual([201, 'awaiting_confirmation']);
    const confirmed = await careUnitOf(gateway, sodermalm).confirm(body.id, await codeFor(gateway, body.id));
    expect([confirmed.status, confirmed.body.status]).toEqual([200, 'booked']);
    expect(await at(slot, 'sandbox-se')).toEqual([{ id: body.id, state: 'booked' }]);
  });

  test('makes a booking late, and only once if it was sent again before', async () => {
    const early = await bookingFor('p-late');
    expectProblem(await early.sendBooking(), 504, 'outcome_unknown');
    const again = await early.sendBooking();
    await expectOneAppointment(again, early.slot);

    const late = await bookingFor('p-late');
    expectProblem(await late.sendBooking(), 504, 'outcome_unknown');
    const made = await eventually(async () => {
      const [appointment] = await at(late.slot);
      if (!appointment) throw new Error('The EHR has not made the booking yet');
      return appointment;
    });
    const found = await late.sendBooking();
    expect(found.body.id).toBe(made.id);
    await expectOneAppointment(found, late.slot);
    // The late booking that was sent earlier has come, too.
    await expectOneAppointment(again, early.slot);
  });

  test.each([
    ['books', oslo, 'booked'],
    ['holds', sodermalm, 'awaiting_confirmation'],
  ])('%s, and its staff cancel before the answer arrives: the events tell', async (_, careUnit, status) => {
    const { sendBooking } = await bookingFor('p-staff', careUnit);
    const first = await sendBooking();
    expect([first.status, first.body.status]).toEqual([201, status]);
    expectStored(await sendBooking(), first);
    const { id } = first.body;
    const path = `${careUnit}/appointments/${id}`;
    expect((await gateway.request<Appointment>('GET', path)).body.status).toBe('cancelled');
    await expectEvents(gateway, id, [status, 'cancelled']);
  });
});

test('each patient of the list is in each country, with a phone number that nobody has', async () => {
  const reserved = { NO: /^\+470000\d{4}$/, SE: /^\+4670174(060[5-9]|06[1-9]\d)$/, GB: /^\+447700900\d{3}$/ };
  for (const country of ['NO', 'SE', 'GB'] as const) {
    const { findPatient, patients } = createDirectory(country, []);
    for (const { patientId } of sandboxFaults) {
      const phone = (await findPatient({ type: 'emr_id', value: patientId }))?.phone;
      expect(phone).toMatch(reserved[country]);
      expect(patients.map((it) => it.phone)).not.toContain(phone);
    }
  }
});
