import { patientIdentifierTypes, resourceIdentifierTypes } from '@crossward/connector-kit';
import Type from 'typebox';
import { nextCursor } from '../api/paging.ts';
import { choice, nullableString, reference } from '../api/schemas.ts';
import { breakerStates } from '../ehr/guard/breaker.ts';
import { ehrOperations } from './ehr-operations.ts';

const confirmation = (of: string) =>
  choice(['none', 'code'], { description: `Whether ${of} waits for a code that is sent to the patient.` });

const emrStatuses = ['available', 'degraded', 'unavailable'] as const;

export const emrSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    status: choice(emrStatuses, {
      description:
        'Whether the EHR can be used now. `degraded`: it has failed, and the next call tries whether it is back. ' +
        '`unavailable`: it has not been reached since the gateway was started, or it is left alone for a while; calls ' +
        'answer `ehr_unavailable`.',
    }),
    breaker: choice(breakerStates, {
      description: 'State of the circuit breaker that leaves the EHR alone after failures in a row.',
    }),
    last_success_at: nullableString({
      format: 'date-time',
      description: 'When the EHR last did what it was asked. Null: not since the gateway was started.',
    }),
    capabilities: Type.Object({
      patient_identifier_types: Type.Array(choice(patientIdentifierTypes), {
        description: 'What patients can be looked up by.',
      }),
      resource_identifier_types: Type.Array(choice(resourceIdentifierTypes), {
        description: 'What resources can be looked up by.',
      }),
      booking_confirmation: confirmation('a booking'),
      cancellation_confirmation: confirmation('a cancellation'),
      operations: Type.Array(choice(Object.keys(ehrOperations)), {
        description: 'What can be done in this EHR. Anything else answers `operation_unsupported`.',
      }),
    }),
  },
  { $id: 'Emr', description: 'An EHR behind the gateway.' },
);

export const emrListSchema = Type.Object({
  emrs: Type.Array(reference('Emr')),
  next_cursor: nextCursor,
});

export const careUnitSchema = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    time_zone: Type.String({ description: 'IANA time zone.' }),
    language: choice(['nb', 'sv', 'en'], { description: 'Language of the messages to patients.' }),
  },
  { $id: 'CareUnit', description: 'A care unit of an EHR.' },
);

export const careUnitListSchema = Type.Object({
  care_units: Type.Array(reference('CareUnit')),
  next_cursor: nextCursor,
});
