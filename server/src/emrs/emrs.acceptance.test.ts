/** @module-tag any-database */
import { afterAll, describe, expect, inject, test } from 'vitest';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { pagesOf } from '../../../test/requests/bookings.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

interface Emr {
  readonly id: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
}

const everyOperation = [
  'get_patient',
  'search_patients',
  'create_patient',
  'list_accesses',
  'list_resources',
  'get_resource',
  'list_schedules',
  'create_schedule',
  'get_schedule',
  'end_schedule',
  'add_schedule_exception',
  'list_healthcare_services',
  'list_timeslots',
  'list_appointments',
  'create_appointment',
  'get_appointment',
  'update_appointment',
  'cancel_appointment',
  'reschedule_appointments',
  'list_medical_notes',
  'create_medical_note',
  'get_medical_note',
  'list_documents',
  'get_document',
  'get_document_content',
  'create_document',
];

/**
 * Medplum's router does not run transactions all or nothing, by which schedules are written, and takes no Binary as it is,
 * by which documents are stored.
 */
const unsupported: Readonly<Record<string, readonly string[]>> = {
  medplum: [
    'create_schedule',
    'end_schedule',
    'add_schedule_exception',
    'list_documents',
    'get_document',
    'get_document_content',
    'create_document',
  ],
};
const supported = everyOperation.filter((name) => !unsupported[inject('ehrKind')]?.includes(name));

describe('list_emrs', () => {
  test('returns every EHR with its capabilities', { tags: 'every-ehr' }, async () => {
    const { status, body } = await gateway.request<{ emrs: Emr[]; next_cursor: null }>('GET', '/api/emrs');
    expect(status).toBe(200);
    expect(body.next_cursor).toBeNull();
    expect(body.emrs.map(({ id }) => id)).toEqual(['sandbox-no', 'sandbox-se', 'sandbox-uk']);
    expect(body.emrs.map(({ capabilities }) => capabilities)).toMatchObject([
      {
        patient_identifier_types: ['emr_id', 'no_personal_number'],
        resource_identifier_types: ['emr_id'],
        booking_confirmation: 'none',
        cancellation_confirmation: 'none',
      },
      {
        patient_identifier_types: ['emr_id', 'se_personal_number'],
        resource_identifier_types: ['emr_id', 'hsa_id', 'se_personal_number'],
        booking_confirmation: 'code',
        cancellation_confirmation: 'none',
      },
      {
        patient_identifier_types: ['emr_id', 'nhs_number'],
        resource_identifier_types: ['emr_id'],
        booking_confirmation: 'none',
        cancellation_confirmation: 'code',
      },
    ]);
    for (const { capabilities } of body.emrs) expect(capabilities.operations).toEqual(supported);
  });

  test('returns only the EHRs that the client is granted', async () => {
    const { body } = await gateway.request<{ emrs: Emr[] }>('GET', '/api/emrs', { client: 'narrowed' });
    expect(body.emrs.map(({ id }) => id)).toEqual(['sandbox-no']);
  });

  test('is paged', async () => {
    const pages = await pagesOf<Emr>(gateway, '/api/emrs?limit=1', 'emrs');
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['sandbox-no'], ['sandbox-se'], ['sandbox-uk']]);
  });

  test('rejects other parameters', async () => {
    const { status, body } = await gateway.request<Problem>('GET', '/api/emrs?page=1');
    expect(status).toBe(400);
    expect(body).toMatchObject({ reason: 'request_invalid', errors: [{ parameter: 'page' }] });
  });
});

describe('get_emr', () => {
  test.each(['sandbox-no', 'sandbox-se', 'sandbox-uk'])('returns %s as list_emrs does', async (id) => {
    const { body } = await gateway.request<{ emrs: Emr[] }>('GET', '/api/emrs');
    const one = await gateway.request<Emr>('GET', `/api/emrs/${id}`);
    expect(one.status).toBe(200);
    expect(one.body).toEqual(body.emrs.find((it) => it.id === id));
    expect(one.body).toMatchObject({
      id,
      status: 'available',
      breaker: 'closed',
      last_success_at: null,
      name: expect.stringMatching(/\S/),
    });
  });

  test('says when the EHR last responded successfully', async () => {
    const before = Date.now();
    await gateway.request('GET', '/api/emrs/sandbox-uk/care-units/riverside/resources');
    const { body } = await gateway.request<{ last_success_at: string }>('GET', '/api/emrs/sandbox-uk');
    expect(Date.parse(body.last_success_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(body.last_success_at)).toBeLessThanOrEqual(Date.now());
  });

  test('rejects parameters', async () => {
    const { status, body } = await gateway.request<Problem>('GET', '/api/emrs/sandbox-no?limit=1');
    expect(status).toBe(400);
    expect(body).toMatchObject({ reason: 'request_invalid', errors: [{ parameter: 'limit' }] });
  });
});

describe('list_care_units', () => {
  test.each([
    [
      'sandbox-no',
      [
        { id: 'bergen-nord', name: 'Bergen nord', time_zone: 'Europe/Oslo', language: 'nb' },
        { id: 'oslo-sentrum', name: 'Oslo sentrum', time_zone: 'Europe/Oslo', language: 'nb' },
      ],
    ],
    [
      'sandbox-se',
      [
        { id: 'lund', name: 'Lund', time_zone: 'Europe/Stockholm', language: 'sv' },
        { id: 'sodermalm', name: 'Södermalm', time_zone: 'Europe/Stockholm', language: 'sv' },
      ],
    ],
    [
      'sandbox-uk',
      [
        { id: 'hillview', name: 'Hillview', time_zone: 'Europe/London', language: 'en' },
        { id: 'riverside', name: 'Riverside', time_zone: 'Europe/London', language: 'en' },
      ],
    ],
  ])('returns the care units of %s, by id', async (emr, care_units) => {
    const { status, body } = await gateway.request('GET', `/api/emrs/${emr}/care-units`);
    expect(status).toBe(200);
    expect(body).toEqual({ care_units, next_cursor: null });
  });

  test('returns only the care units that the client is granted', async () => {
    const path = '/api/emrs/sandbox-no/care-units';
    const { body } = await gateway.request<{ care_units: Emr[] }>('GET', path, { client: 'narrowed' });
    expect(body.care_units.map(({ id }) => id)).toEqual(['oslo-sentrum']);
  });

  test('is paged', async () => {
    const pages = await pagesOf<Emr>(gateway, '/api/emrs/sandbox-uk/care-units?limit=1', 'care_units');
    expect(pages.map((page) => page.map(({ id }) => id))).toEqual([['hillview'], ['riverside']]);
  });
});

describe('get_care_unit', () => {
  test('returns one care unit', async () => {
    const { status, body } = await gateway.request('GET', '/api/emrs/sandbox-se/care-units/sodermalm');
    expect(status).toBe(200);
    expect(body).toEqual({ id: 'sodermalm', name: 'Södermalm', time_zone: 'Europe/Stockholm', language: 'sv' });
  });
});
