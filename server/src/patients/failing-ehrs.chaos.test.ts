import { expect, test } from 'vitest';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import type { Problem } from '../../../test/gateway/gateway.ts';
import { calledWhileUnavailable, finalResponse } from '../../../test/gateway/recovery.ts';
import { oslo } from '../../../test/requests/bookings.ts';
import { newKey } from '../../../test/requests/idempotency-keys.ts';

/* The EHR gets one patient, whatever happens to the request that creates it. */

const { gateway, ehrs } = await startBeforeFaultyEhrs();
const ehr = ehrs.of('sandbox-no');

interface Patient {
  readonly id: string;
  readonly family_name: string;
}

const operation = 'createPatient' as const;
const numbers = ['15859000107', '15859000204', '15859000379', '15859000468', '15859000530', '15859000611'].values();
const nextNumber = () => `no_personal_number:${numbers.next().value}`;

function create(number: string, key: string | undefined, family_name = 'Prøvestad') {
  return gateway.request<Patient & Problem>('POST', `${oslo}/patients`, {
    body: { identifier: 'header:x-number', given_name: 'Ny', family_name, birth_date: '1990-05-15' },
    headers: { 'x-number': number, 'idempotency-key': key },
  });
}

/** Whom the EHR has. */
async function patientBy(number: string) {
  return gateway.request<Patient>('GET', `${oslo}/patients/header:x-number`, { headers: { 'x-number': number } });
}

test.each([true, false])('after a lost response, a retry finds or creates the patient (done: %s)', async (isDone) => {
  const [number, key] = [nextNumber(), newKey()];
  ehr.loseResponse({ operation, isDone });
  expect(await create(number, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  const retried = await finalResponse(() => create(number, key));
  expect(retried.status).toBe(201);
  expect((await patientBy(number)).body.id).toBe(retried.body.id);
});

test('an EHR that stays away across the retry and the recovery has one patient afterwards', async () => {
  const [number, key] = [nextNumber(), newKey()];
  ehr.goDownDuring({ operation, isDone: true });
  expect(await create(number, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  expect((await create(number, key)).status).toBeGreaterThanOrEqual(500);
  await calledWhileUnavailable(ehr);
  ehr.comeUp();
  const retried = await finalResponse(() => create(number, key));
  expect(retried.status).toBe(201);
  expect((await patientBy(number)).body.id).toBe(retried.body.id);
});

test('an EHR that finishes late gets no second patient', async () => {
  const [number, key] = [nextNumber(), newKey()];
  const late = ehr.finishLate({ operation });
  expect(await create(number, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  const retried = await finalResponse(() => create(number, key));
  await late.finish();
  expect((await patientBy(number)).body.id).toBe(retried.body.id);
});

test('a patient whom somebody else creates meanwhile, with another name, is kept and not shown', async () => {
  const [number, key] = [nextNumber(), newKey()];
  ehr.loseResponse({ operation, isDone: false });
  expect(await create(number, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  const other = await create(number, newKey(), 'Annet');
  expect(other.status).toBe(201);
  const retried = await finalResponse(() => create(number, key));
  expect(retried).toMatchObject({ status: 409, body: { reason: 'patient_mismatch' } });
  expect(retried.text).not.toContain(other.body.id);
  expect((await patientBy(number)).body).toMatchObject({ id: other.body.id, family_name: 'Annet' });
});

test('a number that two records have after a lost response ends the creation, and none is chosen', async () => {
  const [number, key] = ['no_personal_number:15859000611', newKey()];
  ehr.loseResponse({ operation, isDone: true });
  expect(await create(number, key)).toMatchObject({ status: 504, body: { reason: 'outcome_unknown' } });
  const client = await gateway.database.pool.connect();
  await client
    .query(
      `INSERT INTO sandbox.patients
        SELECT emr, 'copy', identifier_type, '158590 00611', given_name, family_name, birth_date, gender, phone, email,
          address, gen_random_uuid() FROM sandbox.patients WHERE identifier_value = '15859000611'`,
    )
    .finally(() => client.release());
  const retried = await finalResponse(() => create(number, key));
  expect(retried).toMatchObject({ status: 409, body: { reason: 'patient_ambiguous' } });
});
