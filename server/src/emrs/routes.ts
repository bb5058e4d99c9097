import type { Capabilities } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import { type AnyEndpoint, type EndpointGroup, endpoint } from '../api/endpoint.ts';
import { pageOfAll, pagingQuery } from '../api/paging.ts';
import { reference } from '../api/schemas.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { careUnitListSchema, careUnitSchema, emrListSchema, type emrSchema } from './contract.ts';
import { operationsOf } from './ehr-operations.ts';

const emrExample = {
  id: 'sandbox-no',
  name: 'Sandkasse Norge',
  status: 'available',
  paused_until: null,
  breaker: 'closed',
  last_success_at: '2026-03-20T08:00:00Z',
  answered_from_memory_at: null,
  unreadable_records: [],
  capabilities: {
    patient_identifier_types: ['emr_id', 'no_personal_number'],
    resource_identifier_types: ['emr_id'],
    passes_through: [],
    patient_details: 'none',
    timeslots_by_patient: 'none',
    booking_confirmation: 'none',
    cancellation_confirmation: 'none',
    operations: ['get_patient', 'list_timeslots', 'create_appointment'],
  },
};
const careUnitExample = { id: 'oslo-sentrum', name: 'Oslo sentrum', time_zone: 'Europe/Oslo', language: 'nb' };

const listEmrs = endpoint({
  operationId: 'list_emrs',
  tag: 'EHR systems',
  summary: 'List EHRs',
  level: 'client',
  method: 'GET',
  path: '/emrs',
  audit: 'none',
  scopes: [],
  query: pagingQuery,
  response: { status: 200, description: 'EHRs that the client is granted, sorted by id.', schema: emrListSchema },
  reasons: ['cursor_invalid'],
  examples: { response: { emrs: [emrExample], next_cursor: null } },
  async handle({ client, query, cursors, services, endpoints }) {
    const granted = [...services.ehrs.values()].filter(({ id }) => client.grants.has(id));
    const binding = { clientId: client.id, operationId: 'list_emrs', filters: [] };
    const { entries, next_cursor } = await pageOfAll(cursors, query, binding, granted);
    return { body: { emrs: entries.map((it) => emr(it, endpoints)), next_cursor } };
  },
});

const getEmr = endpoint({
  operationId: 'get_emr',
  tag: 'EHR systems',
  summary: 'Get an EHR',
  level: 'emr',
  method: 'GET',
  path: '',
  audit: 'none',
  scopes: [],
  response: { status: 200, description: 'The EHR.', schema: reference('Emr') },
  reasons: [],
  examples: { params: { emr: 'sandbox-no' }, response: emrExample },
  handle: async ({ ehr, endpoints }) => ({ body: emr(ehr, endpoints) }),
});

const listCareUnits = endpoint({
  operationId: 'list_care_units',
  tag: 'EHR systems',
  summary: 'List care units',
  level: 'emr',
  method: 'GET',
  path: '/care-units',
  audit: 'none',
  scopes: [],
  query: pagingQuery,
  response: {
    status: 200,
    description: 'Care units that the client is granted, sorted by id.',
    schema: careUnitListSchema,
  },
  reasons: ['cursor_invalid'],
  examples: { params: { emr: 'sandbox-no' }, response: { care_units: [careUnitExample], next_cursor: null } },
  async handle({ client, ehr, query, cursors }) {
    const granted = [...ehr.careUnits.values()].filter(({ id }) => client.grants.get(ehr.id)?.has(id));
    const binding = { clientId: client.id, operationId: 'list_care_units', filters: [ehr.id] };
    const { entries, next_cursor } = await pageOfAll(cursors, query, binding, granted);
    return { body: { care_units: entries.map(careUnitBody), next_cursor } };
  },
});

const getCareUnit = endpoint({
  operationId: 'get_care_unit',
  tag: 'EHR systems',
  summary: 'Get a care unit',
  level: 'care_unit',
  method: 'GET',
  path: '',
  audit: 'none',
  scopes: [],
  response: { status: 200, description: 'The care unit.', schema: careUnitSchema },
  reasons: [],
  examples: { params: { emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' }, response: careUnitExample },
  handle: async ({ careUnit }) => ({ body: careUnitBody(careUnit) }),
});

export const emrEndpoints: EndpointGroup = {
  schemas: [careUnitSchema],
  endpoints: [listEmrs, getEmr, listCareUnits, getCareUnit],
};

const statuses = { closed: 'available', half_open: 'degraded', open: 'unavailable' } as const;

/** Shown until the connection to the EHR is established. */
const unknownCapabilities: Pick<
  Capabilities,
  'patientIdentifierTypes' | 'resourceIdentifierTypes' | 'passesThrough' | 'patientDetails' | 'slotsByPatient'
> = { patientIdentifierTypes: ['emr_id'], resourceIdentifierTypes: ['emr_id'] };

function emr(ehr: EhrConnection, endpoints: readonly AnyEndpoint[]): Static<ReturnType<typeof emrSchema>> {
  const { breaker, lastSuccessAt, answeredFromMemoryAt, pause } = ehr.health();
  const careUnits = [...ehr.careUnits.values()];
  const capabilities = ehr.isOpen ? ehr.capabilities : unknownCapabilities;
  return {
    id: ehr.id,
    name: ehr.name,
    status: pause ? 'paused' : ehr.isOpen ? statuses[breaker] : 'unavailable',
    paused_until: pause?.until?.toISOString() ?? null,
    breaker,
    last_success_at: lastSuccessAt?.toISOString() ?? null,
    answered_from_memory_at: answeredFromMemoryAt?.toISOString() ?? null,
    unreadable_records: ehr
      .unreadableRecords()
      .map(({ type, count, since }) => ({ type, count, since: since.toISOString() })),
    capabilities: {
      patient_identifier_types: [...capabilities.patientIdentifierTypes],
      resource_identifier_types: [...capabilities.resourceIdentifierTypes],
      passes_through: [...(capabilities.passesThrough ?? [])],
      patient_details: capabilities.patientDetails ?? 'none',
      timeslots_by_patient: capabilities.slotsByPatient ?? 'none',
      booking_confirmation: careUnits.some((it) => it.bookingConfirmation === 'code') ? 'code' : 'none',
      cancellation_confirmation: careUnits.some((it) => it.cancellationConfirmation === 'code') ? 'code' : 'none',
      operations: ehr.isOpen ? operationsOf(ehr, endpoints) : [],
    },
  };
}

function careUnitBody({ id, name, timeZone, language }: CareUnitConnection): Static<typeof careUnitSchema> {
  return { id, name, time_zone: timeZone, language };
}
