import type { Reason } from '../problems/reasons.ts';

/** Of https://hl7.org/fhir/R4/valueset-issue-type.html, those that the gateway uses. */
export type IssueType =
  | 'structure'
  | 'required'
  | 'value'
  | 'invariant'
  | 'login'
  | 'forbidden'
  | 'processing'
  | 'not-supported'
  | 'duplicate'
  | 'not-found'
  | 'multiple-matches'
  | 'too-long'
  | 'too-costly'
  | 'business-rule'
  | 'conflict'
  | 'transient'
  | 'timeout'
  | 'throttled'
  | 'exception';

interface IssueFacts {
  readonly type: IssueType;
  /** The HTTP status of a write, if it is not the native one. */
  readonly writeStatus?: number;
}

/** 422: a rule is broken, or a reference cannot be resolved: https://hl7.org/fhir/R4/http.html#create */
const rejected = { writeStatus: 422 } as const;
const notFound = { type: 'not-found' } as const;
/** Something that a body names. In a search, nothing is found. */
const notFoundInBody = { ...notFound, ...rejected } as const;
const rule = { type: 'business-rule' } as const;
const unsupported = { type: 'not-supported' } as const;
const value = { type: 'value' } as const;

/** What each native reason is in FHIR. Closed: a reason without a line does not compile. */
export const issueTypes: Readonly<Record<Reason, IssueFacts>> = {
  request_invalid: value,
  identifier_malformed: value,
  identifier_type_unsupported: unsupported,
  header_reference_missing: value,
  header_reference_forbidden: value,
  local_time_nonexistent: value,
  time_range_invalid: { ...rule, ...rejected },
  recurrence_invalid: value,
  cursor_invalid: value,
  search_too_costly: { type: 'too-costly' },
  standard_unsupported: unsupported,
  author_not_practitioner: rule,
  time_slot_unavailable: { type: 'conflict', ...rejected },
  content_type_mismatch: value,
  appointments_not_alike: rule,
  confirmations_differ: rule,
  confirmation_code_incorrect: value,
  credentials_invalid: { type: 'login' },
  scope_missing: { type: 'forbidden' },
  route_not_found: notFound,
  emr_not_found: notFound,
  care_unit_not_found: notFound,
  patient_not_found: notFoundInBody,
  resource_not_found: notFoundInBody,
  healthcare_service_not_found: notFoundInBody,
  healthcare_service_not_offered: { ...rule, ...rejected },
  schedule_not_found: notFound,
  webhook_endpoint_not_found: notFound,
  watch_not_found: notFound,
  webhook_delivery_not_found: notFound,
  webhook_url_rejected: rule,
  webhook_endpoint_limit_reached: rule,
  watch_limit_reached: rule,
  webhook_endpoint_disabled: rule,
  appointment_not_found: notFound,
  medical_note_not_found: notFound,
  document_not_found: notFound,
  method_not_allowed: unsupported,
  not_acceptable: unsupported,
  appointment_cancelled: rule,
  appointment_awaiting_confirmation: rule,
  appointment_changed: { type: 'conflict' },
  appointment_started: rule,
  change_not_allowed: rule,
  confirmation_expired: rule,
  confirmation_locked: rule,
  confirmation_not_pending: rule,
  resend_limit_reached: rule,
  schedule_overlap: rule,
  schedule_limit_reached: rule,
  schedule_has_appointments: rule,
  patient_inactive: rule,
  patient_ambiguous: { type: 'multiple-matches' },
  patient_mismatch: { type: 'conflict' },
  return_url_not_allowed: rule,
  no_contact_channel: rule,
  idempotency_in_progress: { type: 'conflict' },
  version_outdated: { type: 'conflict' },
  content_too_large: { type: 'too-long' },
  uri_too_long: { type: 'too-long' },
  media_type_unsupported: unsupported,
  headers_too_large: { type: 'too-long' },
  idempotency_key_reused: { type: 'duplicate', writeStatus: 412 },
  patient_limit_reached: { type: 'throttled' },
  client_limit_reached: { type: 'throttled' },
  rate_limited: { type: 'throttled' },
  internal_error: { type: 'exception' },
  operation_unsupported: unsupported,
  ehr_rejected: { type: 'processing' },
  partially_applied: { type: 'processing' },
  ehr_unavailable: { type: 'transient' },
  ehr_paused: { type: 'transient' },
  overloaded: { type: 'throttled' },
  database_unavailable: { type: 'transient' },
  time_slots_changing: { type: 'transient' },
  audit_trail_incomplete: { type: 'exception' },
  ehr_timeout: { type: 'timeout' },
  outcome_unknown: { type: 'timeout' },
};
