/** The properties of a reason. `happened` and `remedy` are shown on its page under `/problems/`. */
export interface ReasonFacts {
  /** HTTP status. Something not found that is named in the query or body gets 400 instead of 404. */
  readonly status: number;
  readonly title: string;
  /** Which side caused the error. */
  readonly origin: 'caller' | 'gateway' | 'ehr';
  /** Whether the same request can succeed later. */
  readonly retryable: boolean;
  /** When it can, if that is neither always nor never. A sentence. */
  readonly later?: string;
  readonly happened: string;
  readonly remedy: string;
}

const caller = { origin: 'caller', retryable: false } as const;
const busy = { origin: 'gateway', retryable: true } as const;

/** All reasons of the API. The list is closed. */
export const reasons = {
  request_invalid: {
    ...caller,
    status: 400,
    title: 'Request invalid',
    happened:
      'The body, the query, the path or a header is unreadable, is ambiguous, or does not match the OpenAPI description.',
    remedy: 'Correct the request. `errors` lists each place and what was expected there.',
  },
  identifier_malformed: {
    ...caller,
    status: 400,
    title: 'Identifier malformed',
    happened:
      'A patient or resource identifier does not match `{type}:{value}`, its type is unknown, or its check digits are wrong.',
    remedy: 'Correct the identifier. If an internal identifier contains a colon, add the prefix `emr_id:`.',
  },
  identifier_type_unsupported: {
    ...caller,
    status: 400,
    title: 'Identifier type unsupported',
    happened: 'This EHR does not support look-up by this type of identifier.',
    remedy: 'Use a type that `GET /api/emrs/{emr}` lists for patients or resources. Every EHR supports `emr_id`.',
  },
  header_reference_missing: {
    ...caller,
    status: 400,
    title: 'Referenced header missing',
    happened: 'An identifier refers to a header with `header:{name}`, but that header is missing or empty.',
    remedy: 'Send the header, with the identifier as its value.',
  },
  header_reference_forbidden: {
    ...caller,
    status: 400,
    title: 'Header reference not allowed',
    happened: 'An identifier refers with `header:{name}` to a header that must not contain identifiers.',
    remedy:
      'Use a custom header that starts with `x-`, such as `x-patient`. The operator of the gateway can allow other headers.',
  },
  local_time_nonexistent: {
    ...caller,
    status: 400,
    title: 'Local time does not exist',
    happened:
      'This local time does not exist, because clocks in the time zone of the care unit are set forward over it.',
    remedy: 'Use a time from `GET …/timeslots`, or add the UTC offset if the operation allows it.',
  },
  time_range_invalid: {
    ...caller,
    status: 400,
    title: 'Time range invalid',
    happened:
      "The end is not after the start, the range is too long, a new time is in the past, time slots do not fit into the range, or an offset is not the care unit's.",
    remedy: 'Correct the range. `detail` says what is wrong.',
  },
  recurrence_invalid: {
    ...caller,
    status: 400,
    title: 'Recurrence invalid',
    happened:
      'The recurrence is not a rule of RFC 5545, never ends, does not begin with the first occurrence, or uses a part that is not supported.',
    remedy: 'Correct the rule. `detail` says what is wrong.',
  },
  cursor_invalid: {
    ...caller,
    status: 400,
    title: 'Cursor invalid',
    happened:
      'The cursor is not valid for this client, this list and these filters. For `GET /api/events`: events after the position in `after` have been deleted, or no event has this position.',
    remedy:
      'Request the first page again without `cursor`, or the oldest events without `after`. Repeat the same filters with each `next_cursor`.',
  },
  search_too_costly: {
    ...caller,
    status: 400,
    title: 'Search too costly',
    happened:
      'The search names more values than the gateway compares, or asks for a count of more records than it counts.',
    remedy: 'Narrow the search, divide it, or leave the count out.',
  },
  standard_unsupported: {
    ...caller,
    status: 400,
    title: 'Standard unsupported',
    happened: 'The header `x-service-standard` names a standard that the gateway does not support.',
    remedy: 'Omit the header or send `native`.',
  },
  author_not_practitioner: {
    ...caller,
    status: 400,
    title: 'Author not a practitioner',
    happened: 'The author is a room or a device.',
    remedy: 'Use a resource of kind `practitioner` from `GET …/resources` of the same care unit.',
  },
  time_slot_unavailable: {
    ...caller,
    status: 400,
    title: 'Time slot unavailable',
    happened:
      'No free time slots of this resource and service cover the range: it is taken, or it does not start and end on slot boundaries.',
    remedy:
      'Choose a free time slot from `GET …/timeslots`. The same request can succeed once the time is free again: send it with a new `Idempotency-Key`.',
    later: 'Once the time is free again.',
  },
  content_type_mismatch: {
    ...caller,
    status: 400,
    title: 'Content type mismatch',
    happened:
      'The first bytes of the content are not those of the media type in `content_type`, or the operation does not support that type.',
    remedy: 'Send a PDF, a PNG, a JPEG or plain text in UTF-8, with its own media type in `content_type`.',
  },
  appointments_not_alike: {
    ...caller,
    status: 400,
    title: 'Appointments not alike',
    happened:
      'A continuous reschedule names appointments that differ in patient, resource, healthcare service or care unit.',
    remedy: 'Send only ids of appointments that share all four.',
  },
  confirmations_differ: {
    ...caller,
    status: 400,
    title: 'Confirmations differ',
    happened: 'The request confirms appointments that await different codes.',
    remedy: 'Send one request for each `confirmation.id`, with its own code.',
  },
  confirmation_code_incorrect: {
    ...caller,
    status: 400,
    title: 'Confirmation code incorrect',
    happened: 'The code is not the latest code that was sent.',
    remedy: 'Let the patient try again. `attempts_remaining` is the number of attempts left.',
  },
  credentials_invalid: {
    ...caller,
    status: 401,
    title: 'Credentials invalid',
    happened:
      'The headers `x-service-client-id` and `x-service-client-secret`, or the access token, are missing, incorrect or expired.',
    remedy:
      'Send both headers with the values that the operator of the gateway gave you, or a new access token from `POST /api/oauth/token`.',
  },
  scope_missing: {
    ...caller,
    status: 403,
    title: 'Scope missing',
    happened: 'The client lacks a scope that this operation requires.',
    remedy: 'Ask the operator of the gateway to grant the scope named in `detail`.',
  },
  route_not_found: {
    ...caller,
    status: 404,
    title: 'Route not found',
    happened: 'No route matches this path.',
    remedy: 'Correct the path. The OpenAPI description lists all paths.',
  },
  emr_not_found: {
    ...caller,
    status: 404,
    title: 'EHR not found',
    happened: 'The EHR does not exist, or the client has no grant for it.',
    remedy: 'Use an `id` from `GET /api/emrs`.',
  },
  care_unit_not_found: {
    ...caller,
    status: 404,
    title: 'Care unit not found',
    happened: 'The care unit does not exist, or the client has no grant for it.',
    remedy: 'Use an `id` from `GET /api/emrs/{emr}/care-units`.',
  },
  patient_not_found: {
    ...caller,
    status: 404,
    title: 'Patient not found',
    happened: 'The EHR has no patient with this identifier.',
    remedy: 'Check the identifier and its type.',
  },
  resource_not_found: {
    ...caller,
    status: 404,
    title: 'Resource not found',
    happened: 'The care unit has no resource with this identifier.',
    remedy: 'Use an `id` from `GET …/resources` of the same care unit.',
  },
  healthcare_service_not_found: {
    ...caller,
    status: 404,
    title: 'Healthcare service not found',
    happened: 'The care unit has no healthcare service with this id.',
    remedy: 'Use an `id` from `GET …/healthcare-services` of the same care unit.',
  },
  healthcare_service_not_offered: {
    ...caller,
    status: 400,
    title: 'Healthcare service not offered',
    happened: 'The resource does not offer this healthcare service.',
    remedy: 'Use the `healthcare_service_ids` of the resource from `GET …/resources/{resource_id}`.',
  },
  schedule_not_found: {
    ...caller,
    status: 404,
    title: 'Schedule not found',
    happened: 'The resource has no schedule with this id.',
    remedy: 'Use an `id` from `GET …/resources/{resource_id}/schedules` of the same resource.',
  },
  watch_not_found: {
    ...caller,
    status: 404,
    title: 'Watch not found',
    happened: 'The client has no watch with this id. It may have ended.',
    remedy: 'Use an `id` from `GET /api/watches`. A client sees only its own watches.',
  },
  watch_limit_reached: {
    ...caller,
    status: 409,
    title: 'Watch limit reached',
    happened: 'The client has as many watches for time slots as a client can have.',
    remedy: 'Delete a watch that is no longer needed, or wait until one ends.',
  },
  webhook_endpoint_not_found: {
    ...caller,
    status: 404,
    title: 'Webhook endpoint not found',
    happened: 'The client has no webhook endpoint with this id.',
    remedy: 'Use an `id` from `GET /api/webhook-endpoints`. A client sees only its own endpoints.',
  },
  webhook_delivery_not_found: {
    ...caller,
    status: 404,
    title: 'Webhook delivery not found',
    happened: 'The webhook endpoint has no delivery with this id. Deliveries are deleted together with old events.',
    remedy: 'Use an `id` from `GET /api/webhook-endpoints/{webhook_endpoint_id}/deliveries`.',
  },
  webhook_url_rejected: {
    ...caller,
    status: 400,
    title: 'Webhook URL rejected',
    happened: 'The gateway does not deliver events to this URL.',
    remedy:
      'Use an `https://` URL with a public address, without user name, password and fragment. The operator can allow other addresses.',
  },
  webhook_endpoint_limit_reached: {
    ...caller,
    status: 409,
    title: 'Webhook endpoint limit reached',
    happened: 'The client has as many webhook endpoints as the operator allows.',
    remedy: 'Delete an endpoint that is no longer used.',
  },
  webhook_endpoint_disabled: {
    ...caller,
    status: 409,
    title: 'Webhook endpoint disabled',
    happened: 'A disabled webhook endpoint gets no events.',
    remedy: 'Enable the endpoint first: change its `status` to `enabled`.',
  },
  appointment_not_found: {
    ...caller,
    status: 404,
    title: 'Appointment not found',
    happened: 'The care unit has no appointment with this id.',
    remedy: 'Check the id, and check that the path names the care unit of the appointment.',
  },
  medical_note_not_found: {
    ...caller,
    status: 404,
    title: 'Medical note not found',
    happened: 'The patient has no medical note with this id at the care unit.',
    remedy: 'Use an `id` from `GET …/patients/{patient_id}/medical-notes` of the same care unit.',
  },
  document_not_found: {
    ...caller,
    status: 404,
    title: 'Document not found',
    happened:
      'The patient has no document with this id at the care unit, or the document is marked as entered in error.',
    remedy: 'Use an `id` from `GET …/patients/{patient_id}/documents` of the same care unit.',
  },
  method_not_allowed: {
    ...caller,
    status: 405,
    title: 'Method not allowed',
    happened: 'The path exists but does not support this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  not_acceptable: {
    ...caller,
    status: 406,
    title: 'Not acceptable',
    happened: 'The gateway cannot respond in any media type that the request accepts.',
    remedy: 'Accept the media type that `detail` names.',
  },
  appointment_cancelled: {
    ...caller,
    status: 409,
    title: 'Appointment cancelled',
    happened: 'The appointment is cancelled and can no longer be changed.',
    remedy: 'Create a new appointment.',
  },
  appointment_awaiting_confirmation: {
    ...caller,
    status: 409,
    title: 'Appointment awaiting confirmation',
    happened: 'The appointment is awaiting confirmation and cannot be changed.',
    remedy: 'Confirm or cancel the appointment first.',
  },
  appointment_changed: {
    ...caller,
    status: 409,
    title: 'Appointment changed',
    happened: 'The appointment was changed in the EHR while it was being moved. It was not moved.',
    remedy: 'Read the appointment, and send the request again with a new `Idempotency-Key` if it is still wanted.',
  },
  patient_mismatch: {
    ...caller,
    status: 409,
    title: 'Patient mismatch',
    happened:
      'The EHR has a patient with this identifier, but with another family name or birth date. Nothing was created, and nothing of the record is shown.',
    remedy: 'Check the identifier, the family name and the birth date with the patient. Otherwise contact the clinic.',
  },
  appointment_started: {
    ...caller,
    status: 409,
    title: 'Appointment started',
    happened: 'The patient has arrived, or the visit is over. It can be neither moved nor cancelled.',
    remedy: 'Contact the clinic.',
  },
  change_not_allowed: {
    ...caller,
    status: 409,
    title: 'Change not allowed',
    happened: 'The EHR does not allow this change of this appointment. Nothing was changed.',
    remedy: 'Contact the clinic.',
  },
  confirmation_expired: {
    ...caller,
    status: 409,
    title: 'Confirmation expired',
    happened: 'The confirmation has expired. A pending booking is cancelled; a pending cancellation is not made.',
    remedy: 'Book or cancel again.',
  },
  confirmation_locked: {
    ...caller,
    status: 409,
    title: 'Confirmation locked',
    happened: 'Too many incorrect codes were sent. The confirmation no longer accepts any code.',
    remedy: 'Wait until the confirmation has expired, then book or cancel again.',
  },
  confirmation_not_pending: {
    ...caller,
    status: 409,
    title: 'Confirmation not pending',
    happened: 'No confirmation is pending for this id, or another client started it.',
    remedy:
      'In a two-step cancellation, send the code to the new id. Only the client that started a confirmation can confirm it or request a new code.',
  },
  resend_limit_reached: {
    ...caller,
    status: 409,
    title: 'Resend limit reached',
    happened: 'The maximum number of codes for this confirmation was sent.',
    remedy: 'Wait until the confirmation has expired, then book or cancel again.',
  },
  schedule_overlap: {
    ...caller,
    status: 409,
    title: 'Schedules overlap',
    happened: 'Within two years, the schedule has occurrences at times of another schedule of the resource.',
    remedy: 'Choose other times, or end the other schedule or take a period out of it first.',
  },
  schedule_limit_reached: {
    ...caller,
    status: 409,
    title: 'Too many schedules',
    happened: 'The resource has 100 schedules with occurrences in the next two years. That is the maximum.',
    remedy: 'End some of the schedules, or use one schedule with a recurrence in place of several.',
  },
  schedule_has_appointments: {
    ...caller,
    status: 409,
    title: 'Schedule has appointments',
    happened: 'Appointments take time slots that would be removed. Nothing was changed.',
    remedy: 'Move or cancel the appointments whose ids `errors` lists, then try again.',
  },
  patient_inactive: {
    ...caller,
    status: 409,
    title: 'Patient inactive',
    happened: "The patient's record in the EHR is out of use, or says that the patient has died.",
    remedy: 'Do not book for this patient. If the record is wrong, ask the clinic to correct it in the EHR.',
  },
  patient_ambiguous: {
    ...caller,
    status: 409,
    title: 'Patient ambiguous',
    happened: 'The EHR has several records with this identifier, and the gateway never chooses one of them.',
    remedy: 'Ask the clinic to merge the records in the EHR, or name the right one by its `emr_id`.',
  },
  return_url_not_allowed: {
    ...caller,
    status: 400,
    title: 'Return URL not allowed',
    happened: 'The configuration of this client does not allow this `return_url`.',
    remedy: 'Send a URL that the operator of the gateway has allowed, or none.',
  },
  no_contact_channel: {
    ...caller,
    status: 409,
    title: 'No contact channel',
    happened: 'A code is required, but the patient has no phone number or e-mail address to send it to.',
    remedy: 'Ask the clinic to add a phone number or e-mail address in the EHR, or to make the change there.',
  },
  idempotency_in_progress: {
    ...caller,
    retryable: true,
    status: 409,
    title: 'Request in progress',
    happened: 'The first request with this `Idempotency-Key` is still in progress.',
    remedy: 'Send the same request again in a moment.',
  },
  version_outdated: {
    ...caller,
    status: 412,
    title: 'Version outdated',
    happened: 'The record has another version than the one that `If-Match` names. Nothing was changed.',
    remedy: 'Read the record, and send the request again with its version if the change is still wanted.',
  },
  content_too_large: {
    ...caller,
    status: 413,
    title: 'Content too large',
    happened: 'The body is larger than the limit of this operation.',
    remedy: 'Send a smaller body. `detail` names the limit.',
  },
  uri_too_long: {
    ...caller,
    status: 414,
    title: 'URI too long',
    happened: 'The URI is longer than the gateway accepts.',
    remedy: 'Shorten the path or the query.',
  },
  media_type_unsupported: {
    ...caller,
    status: 415,
    title: 'Media type unsupported',
    happened: 'The operation does not support the content type of the body.',
    remedy: 'Send `content-type: application/json`, or another content type that `detail` names.',
  },
  headers_too_large: {
    ...caller,
    status: 431,
    title: 'Headers too large',
    happened: 'The headers are larger than the gateway accepts.',
    remedy: 'Send fewer or shorter headers.',
  },
  idempotency_key_reused: {
    ...caller,
    status: 422,
    title: 'Idempotency key reused',
    happened: 'The `Idempotency-Key` was used before with a different request.',
    remedy: 'Use a new key for each new request.',
  },
  patient_limit_reached: {
    ...caller,
    retryable: true,
    status: 429,
    title: 'Patient limit reached',
    happened:
      'The patient has too many pending confirmations or was sent too many codes. The limits apply to each client and to all clients together.',
    remedy: 'Let the patient confirm what is pending, or try again later.',
  },
  client_limit_reached: {
    ...caller,
    retryable: true,
    status: 429,
    title: 'Client limit reached',
    happened:
      'The client has a budget for times that are held until a code is entered, and for SMS and e-mails with codes in a day (UTC). It is used up.',
    remedy:
      'Wait for the number of seconds in the `Retry-After` header, then try again. `detail` names the budget. The operator of the gateway can raise it.',
  },
  rate_limited: {
    ...caller,
    retryable: true,
    status: 429,
    title: 'Too many requests',
    happened: 'A rate limit was exceeded.',
    remedy: 'Wait for the number of seconds in the `Retry-After` header, then try again.',
  },
  internal_error: {
    origin: 'gateway',
    retryable: false,
    status: 500,
    title: 'Internal error',
    happened: 'An unexpected error occurred in the gateway.',
    remedy: 'Report the `request_id` to the operator of the gateway.',
  },
  operation_unsupported: {
    origin: 'ehr',
    retryable: false,
    status: 501,
    title: 'Operation unsupported',
    happened: 'This EHR does not support the operation.',
    remedy: 'Use the operations that `GET /api/emrs/{emr}` lists.',
  },
  ehr_rejected: {
    origin: 'ehr',
    retryable: false,
    status: 502,
    title: 'EHR rejected the request',
    happened:
      'The EHR rejected the request, or sent a response that is invalid or about another record. Nothing was changed.',
    remedy: 'Report the `request_id` to the operator of the gateway.',
  },
  partially_applied: {
    origin: 'ehr',
    retryable: false,
    status: 502,
    title: 'Partially applied',
    happened:
      'The EHR made some of the changes and rejected others. The gateway could not compensate all changes that were made.',
    remedy: 'Check every appointment that `errors` lists.',
  },
  ehr_unavailable: {
    origin: 'ehr',
    retryable: true,
    status: 503,
    title: 'EHR unavailable',
    happened: 'The EHR cannot be reached. Nothing was changed.',
    remedy: 'Wait for the number of seconds in the `Retry-After` header, then try again.',
  },
  ehr_paused: {
    origin: 'ehr',
    retryable: true,
    status: 503,
    title: 'EHR paused',
    happened: 'The operators of the gateway have paused this EHR. Nothing was changed.',
    remedy:
      'Wait for the number of seconds in the `Retry-After` header, then try again. `GET /api/emrs/{emr}` shows until when the EHR is paused.',
  },
  overloaded: {
    ...busy,
    status: 503,
    title: 'Overloaded',
    happened: 'The gateway is overloaded. Nothing was changed.',
    remedy: 'Wait for the number of seconds in the `Retry-After` header, then try again.',
  },
  database_unavailable: {
    ...busy,
    status: 503,
    title: 'Database unavailable',
    happened: 'The database of the gateway cannot be reached, or did not respond in time.',
    remedy: 'Wait for the number of seconds in the `Retry-After` header, then try again.',
  },
  time_slots_changing: {
    ...busy,
    status: 503,
    title: 'Time slots changing',
    happened:
      'Appointments of the care unit have changed while the gateway searched, so that it does not know what is free on some days.',
    remedy: 'Search again.',
  },
  audit_trail_incomplete: {
    origin: 'gateway',
    retryable: false,
    status: 503,
    title: 'Audit trail incomplete',
    happened:
      'A key of the audit trail cannot be opened. The accesses under it cannot be found by patient, so the list would not be complete.',
    remedy:
      'Tell whoever operates the gateway. A list of a time without such accesses can be read: set `start` and `end`.',
  },
  ehr_timeout: {
    origin: 'ehr',
    retryable: true,
    status: 504,
    title: 'No response from the EHR',
    happened: 'The EHR did not respond in time. Nothing was changed.',
    remedy: 'Try again.',
  },
  outcome_unknown: {
    origin: 'ehr',
    retryable: true,
    status: 504,
    title: 'Outcome unknown',
    happened: 'The EHR may or may not have made the change, and the gateway could not find out.',
    remedy:
      'With an `Idempotency-Key`, send the same request again: the gateway then finds out what became of the first one. Without a key, or if `retryable` is false, check whether the change was made before you send it again under a new key. The `origin` says who did not respond: `ehr`, or `gateway` for the database of the gateway.',
  },
} as const satisfies Record<string, ReasonFacts>;

export type Reason = keyof typeof reasons;
export const reasonNames = Object.keys(reasons) as Reason[];

/** The class of an error for each HTTP status. */
const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  406: 'NOT_ACCEPTABLE',
  409: 'CONFLICT',
  412: 'PRECONDITION_FAILED',
  413: 'CONTENT_TOO_LARGE',
  414: 'URI_TOO_LONG',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  431: 'HEADERS_TOO_LARGE',
  500: 'INTERNAL_SERVER_ERROR',
  501: 'NOT_IMPLEMENTED',
  502: 'BAD_GATEWAY',
  503: 'SERVICE_UNAVAILABLE',
  504: 'GATEWAY_TIMEOUT',
};
export const codeNames = Object.values(codes);

export function codeOf(status: number): string {
  const code = codes[status];
  if (!code) throw new RangeError(`No code for status ${status}`);
  return code;
}
