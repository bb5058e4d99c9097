import type { Reason } from '../problems/reasons.ts';

/** Groups of reasons that endpoints share. */
export const identifierReasons = [
  'identifier_malformed',
  'identifier_type_unsupported',
  'header_reference_missing',
  'header_reference_forbidden',
] as const satisfies readonly Reason[];

/** Reasons of every endpoint that reads from the EHR. */
export const ehrReadReasons = [
  'operation_unsupported',
  'ehr_rejected',
  'ehr_unavailable',
  'ehr_paused',
  'ehr_timeout',
] as const satisfies readonly Reason[];

/** Reasons of every endpoint that writes to the EHR. */
export const ehrWriteReasons = [
  ...ehrReadReasons,
  'outcome_unknown',
  'patient_limit_reached',
  'client_limit_reached',
  'patient_inactive',
  'no_contact_channel',
] as const satisfies readonly Reason[];
