/** @module-tag any-database */
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { identifierCases } from '../../../test/cases/identifier-cases.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { oslo, riverside, sodermalm } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

interface Patient {
  readonly id: string;
  readonly identifiers: readonly string[];
  readonly phone: string | null;
  readonly email: string | null;
}

function get(careUnit: string, patientId: string, headers: Record<string, string | readonly string[]> = {}) {
  return gateway.request<Patient>('GET', `${careUnit}/patients/${encodeURIComponent(patientId)}`, { headers });
}

test('returns all fields of a patient', { tags: 'every-ehr' }, async () => {
  const { status, body } = await get(oslo, 'p-3');
  expect(status).toBe(200);
  expect(body).toEqual({
    id: 'emr_id:p-3',
    identifiers: ['emr_id:p-3'],
    given_name: 'Rolig',
    family_name: 'Strandsand',
    birth_date: '1974-01-30',
    gender: 'male',
    phone: expect.stringMatching(/^\+47\d{8}$/),
    email: 'p-3@patients.example',
    address: {
      lines: [expect.stringMatching(/ 3$/)],
      postal_code: expect.stringMatching(/^\d{4}$/),
      city: expect.stringMatching(/\S/),
      country: 'NO',
    },
  });
});

describe('finds the synthetic patients', () => {
  test.each([
    [oslo, 'p-1', 'no_personal_number:15859000026'],
    [oslo, 'p-2', 'no_personal_number:55859000281'],
    [sodermalm, 'p-1', 'se_personal_number:191212121212'],
    [sodermalm, 'p-2', 'se_personal_number:197010632391'],
    [riverside, 'p-1', 'nhs_number:9990000018'],
    [riverside, 'p-2', 'nhs_number:9990000026'],
  ])('in %s: %s by %s', { tags: 'every-ehr' }, async (careUnit, id, national) => {
    for (const text of [id, `emr_id:${id}`, national]) {
      const { status, body } = await get(careUnit, text);
      expect(status, text).toBe(200);
      expect(body).toMatchObject({ id: `emr_id:${id}`, identifiers: [`emr_id:${id}`, national] });
    }
  });

  test.each([
    [sodermalm, 'se_personal_number:19121212-1212', 'p-1'],
    [sodermalm, 'se_personal_number:121212+1212', 'p-1'],
    [sodermalm, 'se_personal_number:701063-2391', 'p-2'],
    [riverside, 'nhs_number:999 000 0018', 'p-1'],
  ])('in %s by %s, in every notation', async (careUnit, text, id) => {
    expect(await get(careUnit, text)).toMatchObject({ status: 200, body: { id: `emr_id:${id}` } });
  });

  test.each([oslo, sodermalm, riverside])('in %s: twenty, two of them with a national number', async (careUnit) => {
    const patients = await Promise.all(Array.from({ length: 20 }, (_, index) => get(careUnit, `p-${index + 1}`)));
    expect(patients.map(({ body }) => body.id)).toEqual(patients.map((_, index) => `emr_id:p-${index + 1}`));
    expect(patients.filter(({ body }) => body.identifiers.length > 1).map(({ body }) => body.id)).toEqual([
      'emr_id:p-1',
      'emr_id:p-2',
    ]);
    expect(patients.filter(({ body }) => body.phone === null).map(({ body }) => body.id)).toEqual([
      'emr_id:p-19',
      'emr_id:p-20',
    ]);
    expect(patients.filter(({ body }) => body.email === null).map(({ body }) => body.id)).toEqual(['emr_id:p-20']);
  });

  test('of the EHR through every care unit', async () => {
    const other = oslo.replace('oslo-sentrum', 'bergen-nord');
    expect((await get(other, 'p-3')).body).toEqual((await get(oslo, 'p-3')).body);
  });
});

test('numbers of synthetic people are malformed where the connection does not allow them', async () => {
  const strict = await startGateway({
    configure: (demo) => ({ ...demo, emrs: demo.emrs.map((emr) => ({ ...emr, synthetic_identifiers: false })) }),
  });
  onTestFinished(() => strict.close());
  for (const path of [
    `${oslo}/patients/no_personal_number:15859000026`,
    `${riverside}/patients/nhs_number:9990000018`,
  ]) {
    expect(await strict.request('GET', path)).toMatchObject({
      status: 400,
      body: { reason: 'identifier_malformed', errors: [{ parameter: 'patient_id', reason: 'identifier_malformed' }] },
    });
  }
});

identifierCases({
  kind: 'patient',
  place: 'path',
  parameter: 'patient_id',
  send: (text, headers) => get(oslo, text, headers),
  isFound: ({ status }) => status === 200,
});
