import Type from 'typebox';
import type { AnyEndpoint } from '../api/endpoint.ts';
import { nextCursor } from '../api/paging.ts';
import { choice, nullableString, reference } from '../api/schemas.ts';
import { breakerStates } from '../ehr/guard/breaker.ts';
import { ehrOperations } from './ehr-operations.ts';

const confirmation = (of: string) =>
  choice(['none', 'code'], {
    description: `\`code\`: ${of} must be confirmed with a code that is sent to the patient.`,
  });

const byNeed = (of: string) =>
  choice(['none', 'optional', 'required'], { description: `Whether the EHR takes ${of}.` });

const identifierTypeSchema = Type.String({
  pattern: '^[a-z]{2,3}_[a-z0-9_]{2,30}$',
  description: '`emr_id`, one of the types that come with the gateway, or one that its operators have declared.',
});

const emrStatuses = ['available', 'degraded', 'unavailable', 'paused'] as const;

/** @param endpoints all native ones */
export const emrSchema = (endpoints: readonly AnyEndpoint[]) =>
  Type.Object(
    {
      id: Type.String(),
      name: Type.String(),
      status: choice(emrStatuses, {
        description:
          'Whether the EHR can be used now. `degraded`: the EHR has failed; the next request tests whether it has ' +
          'recovered. `unavailable`: the connection is not established or the circuit breaker is open; requests fail ' +
          'with `ehr_unavailable`. `paused`: the operators of the gateway have paused the EHR; requests fail with ' +
          '`ehr_paused`.',
      }),
      paused_until: nullableString({
        format: 'date-time',
        description: 'If `status` is `paused`: when the pause ends. Null if it ends when the operators resume the EHR.',
      }),
      breaker: choice(breakerStates, {
        description: 'State of the circuit breaker, which opens after consecutive failures of the EHR.',
      }),
      last_success_at: nullableString({
        format: 'date-time',
        description: 'Time of the last successful call to the EHR. Null if there was none since the gateway started.',
      }),
      answered_from_memory_at: nullableString({
        format: 'date-time',
        description:
          'Set while the EHR fails: when the gateway last used what it keeps of the EHR for a short time, such as resources ' +
          'and services. It may be out of date. Null otherwise.',
      }),
      unreadable_records: Type.Array(
        Type.Object({
          type: Type.String({ description: 'What the records are in the words of the EHR, such as `Appointment`.' }),
          count: Type.Integer(),
          since: Type.String({ format: 'date-time', description: 'When the first of them was left out.' }),
        }),
        {
          description:
            'Records of the EHR that the gateway could not read within the last 24 hours, and left out of its responses. Other records are not affected. Empty: none.',
        },
      ),
      capabilities: Type.Object({
        patient_identifier_types: Type.Array(identifierTypeSchema, {
          description: 'Identifier types by which patients can be looked up.',
        }),
        resource_identifier_types: Type.Array(identifierTypeSchema, {
          description: 'Identifier types by which resources can be looked up.',
        }),
        passes_through: Type.Array(identifierTypeSchema, {
          description:
            'Identifier types that the EHR takes without a look-up of the patient. Responses then have a token in place of the identifier, which can be sent wherever an identifier can. Empty: the EHR looks patients up.',
        }),
        patient_details: byNeed('`patient_details` of Create'),
        timeslots_by_patient: byNeed('`patient_id` of the list of time slots'),
        booking_confirmation: confirmation('a booking'),
        cancellation_confirmation: confirmation('a cancellation'),
        operations: Type.Array(choice([...ehrOperations(endpoints).keys()]), {
          description: 'Operations that this EHR supports. Others fail with `operation_unsupported`.',
        }),
      }),
    },
    { $id: 'Emr', description: 'An EHR connected to the gateway.' },
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
    language: choice(['nb', 'sv', 'en'], { description: 'Language of messages to patients.' }),
  },
  { $id: 'CareUnit', description: 'A care unit of an EHR.' },
);

export const careUnitListSchema = Type.Object({
  care_units: Type.Array(reference('CareUnit')),
  next_cursor: nextCursor,
});
