import { describe, expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { creationBody, freeSlot } from '../../../test/requests/bookings.ts';
import { type AppointmentResponse, careUnitOf, eventually } from '../../../test/requests/codes.ts';
import { expectProblem } from '../../../test/requests/problems.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: [
    {
      id: 'one-pending',
      like: 'sandbox-se',
      policies: { limits_per_patient: { pending: 1, codes_per_hour: 100 } },
    },
  ],
});

const path = careUnitPath('one-pending', 'sodermalm');
const ehr = ehrs.of('one-pending');
const { create, cancel } = careUnitOf(gateway, path);

/** Each test has its own patient. */
async function bookFor(patientId: string): Promise<AppointmentResponse> {
  const slot = await freeSlot(gateway, { careUnit: path });
  return create({ ...creationBody(slot), patient_id: patientId });
}

/** Waits until the patient can book again. */
async function expectRoomFor(patientId: string): Promise<void> {
  const { body } = await eventually(async () => {
    const response = await bookFor(patientId);
    expect(response.status, response.text).toBe(201);
    return response;
  });
  expectProblem(await bookFor(patientId), 429, 'patient_limit_reached');
  expect(await cancel(body.id)).toMatchObject({ status: 200 });
}

describe('limits for one patient do not count', () => {
  test('bookings that the EHR rejected', async () => {
    ehr.failNext('rejected');
    expectProblem(await bookFor('p-4'), 502, 'ehr_rejected');
    expect((await bookFor('p-4')).status).toBe(201);
  });

  test('bookings that never reached the EHR', async () => {
    ehr.failNext('unavailable');
    expectProblem(await bookFor('p-5'), 503, 'ehr_unavailable');
    expect((await bookFor('p-5')).status).toBe(201);
  });

  test('a write without effect in the EHR, once it has expired', async () => {
    ehr.loseResponse({ isDone: false });
    expectProblem(await bookFor('p-6'), 504, 'outcome_unknown');
    await expectRoomFor('p-6');
  });

  test('a hold without a response, once it is released', async () => {
    ehr.loseResponse({ isDone: true });
    expectProblem(await bookFor('p-7'), 504, 'outcome_unknown');
    await expectRoomFor('p-7');
  });

  test('a write whose look-ups the EHR rejects, once it is suspended', async () => {
    ehr.loseResponse({ isDone: false });
    ehr.failAlways('findOperation', 'rejected');
    expectProblem(await bookFor('p-8'), 504, 'outcome_unknown');
    await expectRoomFor('p-8');
  });
});

test('limits for one patient count writes with an unknown outcome', async () => {
  ehr.goDownDuring({ isDone: true });
  expectProblem(await bookFor('p-9'), 504, 'outcome_unknown');
  // The EHR can be read again, but the outcome stays unknown.
  ehr.comeUp();
  ehr.failAlways('findOperation', 'unavailable');
  expectProblem(await bookFor('p-9'), 429, 'patient_limit_reached');
});
