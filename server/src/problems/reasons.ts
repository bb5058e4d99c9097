/** What every reason says of itself. `happened` and `remedy` make its page under `/problems/`. */
export interface ReasonFacts {
  /** HTTP status. Whatever is named in a query or a body and not found is told with 400 instead of 404. */
  readonly status: number;
  readonly title: string;
  /** Whose fault it is. */
  readonly origin: 'caller' | 'gateway' | 'ehr';
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  readonly happened: string;
  readonly remedy: string;
}

const caller = { origin: 'caller', retryable: false } as const;
const busy = { origin: 'gateway', retryable: true } as const;

/** The closed list of reasons: each is declared here and nowhere else. */
export const reasons = {
  request_invalid: {
    ...caller,
    status: 400,
    title: 'Request invalid',
    happened:
      'The body, the query, the path or a header does not fit the description of the operation, is not readable, or could be read in two ways.',
    remedy: 'Compare the request with the OpenAPI description. `errors` names each place and what was expected there.',
  },
  identifier_malformed: {
    ...caller,
    status: 400,
    title: 'Identifier malformed',
    happened:
      'A patient or resource identifier is not written as `{type}:{value}`, or its check digits are wrong. An unknown prefix counts as a mistake.',
    remedy: 'Correct the identifier. An internal identifier that holds a colon is written with the `emr_id:` prefix.',
  },
  identifier_type_unsupported: {
    ...caller,
    status: 400,
    title: 'Identifier type unsupported',
    happened: 'This EHR cannot look anyone up by an identifier of this type.',
    remedy: 'Use a type that `GET /api/emrs/{emr}` lists for patients or resources. `emr_id` works everywhere.',
  },
  header_reference_missing: {
    ...caller,
    status: 400,
    title: 'Referenced header missing',
    happened: 'An identifier was given as `header:{name}`, and the request has no such header, or an empty one.',
    remedy: 'Send the header, with the identifier as its value.',
  },
  header_reference_forbidden: {
    ...caller,
    status: 400,
    title: 'Header may not be referenced',
    happened: 'An identifier was given as `header:{name}` with a header that may not hold one.',
    remedy:
      'Choose a name of your own that begins with `x-`, such as `x-patient`. The operator of the gateway can allow others.',
  },
  local_time_nonexistent: {
    ...caller,
    status: 400,
    title: 'Local time does not exist',
    happened: 'The clock of the care unit is set forward at this time, so that this local time never comes.',
    remedy: 'Take a time from `GET …/timeslots`, or send the time with its UTC offset where the operation allows it.',
  },
  time_range_invalid: {
    ...caller,
    status: 400,
    title: 'Time range invalid',
    happened: 'The end is not after the start, the range is too long, or a new time lies in the past.',
    remedy: 'Correct the range. The detail says which of these it was.',
  },
  cursor_invalid: {
    ...caller,
    status: 400,
    title: 'Cursor invalid',
    happened: 'The cursor was not made by this gateway for this client and these filters.',
    remedy: 'Start again without a cursor, and repeat the same filters with each `next_cursor`.',
  },
  standard_unsupported: {
    ...caller,
    status: 400,
    title: 'Standard unsupported',
    happened: 'The header `x-service-standard` names a standard that response bodies cannot follow.',
    remedy: 'Leave the header out, or send `native`.',
  },
  time_slot_unavailable: {
    ...caller,
    status: 400,
    title: 'Time slot unavailable',
    happened:
      'No free time slots cover the range: it is taken, or it does not begin and end where time slots of this resource and service do.',
    remedy: 'Choose a free time from `GET …/timeslots`.',
  },
  appointments_not_alike: {
    ...caller,
    status: 400,
    title: 'Appointments not alike',
    happened:
      'A continuous reschedule was asked for appointments that differ in patient, resource, service or care unit.',
    remedy: 'Send only ids that share all four.',
  },
  confirmations_differ: {
    ...caller,
    status: 400,
    title: 'Confirmations differ',
    happened: 'One code was sent for appointments that await different codes.',
    remedy: 'Send one request for each `confirmation.id`, with the code that belongs to it.',
  },
  confirmation_code_incorrect: {
    ...caller,
    status: 400,
    title: 'Confirmation code incorrect',
    happened: 'The code is not the one that was sent last.',
    remedy: 'Let the person try again, as often as `attempts_remaining` says.',
  },
  credentials_invalid: {
    ...caller,
    status: 401,
    title: 'Credentials invalid',
    happened: 'The headers `x-service-client-id` and `x-service-client-secret` are missing or wrong.',
    remedy: 'Send both headers with the values that the operator of the gateway gave you.',
  },
  scope_missing: {
    ...caller,
    status: 403,
    title: 'Scope missing',
    happened: 'The client may use this EHR, but not this operation.',
    remedy: 'Ask the operator of the gateway to grant the scope that the detail names.',
  },
  route_not_found: {
    ...caller,
    status: 404,
    title: 'Route not found',
    happened: 'There is nothing at this address.',
    remedy: 'Compare the path with the OpenAPI description.',
  },
  emr_not_found: {
    ...caller,
    status: 404,
    title: 'EHR not found',
    happened: 'There is no EHR of this name, or the client is not granted it.',
    remedy: 'Use an `id` from `GET /api/emrs`.',
  },
  care_unit_not_found: {
    ...caller,
    status: 404,
    title: 'Care unit not found',
    happened: 'The EHR has no care unit of this name, or the client is not granted it.',
    remedy: 'Use an `id` from `GET /api/emrs/{emr}/care-units`.',
  },
  patient_not_found: {
    ...caller,
    status: 404,
    title: 'Patient not found',
    happened: 'The EHR knows no patient by this identifier.',
    remedy: 'Check the identifier and its type.',
  },
  resource_not_found: {
    ...caller,
    status: 404,
    title: 'Resource not found',
    happened: 'The care unit has no resource by this identifier.',
    remedy: 'Use an `id` from `GET …/resources` of the same care unit.',
  },
  healthcare_service_not_found: {
    ...caller,
    status: 404,
    title: 'Healthcare service not found',
    happened: 'The care unit has no such healthcare service.',
    remedy: 'Use an `id` from `GET …/healthcare-services` of the same care unit.',
  },
  appointment_not_found: {
    ...caller,
    status: 404,
    title: 'Appointment not found',
    happened: 'The care unit has no appointment with this id.',
    remedy: 'Check the id, and that the path names the care unit of the appointment.',
  },
  method_not_allowed: {
    ...caller,
    status: 405,
    title: 'Method not allowed',
    happened: 'The address exists, but does not offer this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  appointment_cancelled: {
    ...caller,
    status: 409,
    title: 'Appointment cancelled',
    happened: 'The appointment is cancelled and cannot be changed any more.',
    remedy: 'Create a new appointment.',
  },
  appointment_awaiting_confirmation: {
    ...caller,
    status: 409,
    title: 'Appointment awaits confirmation',
    happened: 'The appointment is not booked yet and cannot be changed.',
    remedy: 'Confirm or cancel it first.',
  },
  appointment_started: {
    ...caller,
    status: 409,
    title: 'Appointment started',
    happened: 'The patient has arrived, or the visit is over. It can be neither moved nor cancelled.',
    remedy: 'Contact the clinic.',
  },
  confirmation_expired: {
    ...caller,
    status: 409,
    title: 'Confirmation expired',
    happened: 'The code has run out. A booking that waited for it is cancelled, a cancellation was not made.',
    remedy: 'Start again.',
  },
  confirmation_locked: {
    ...caller,
    status: 409,
    title: 'Confirmation locked',
    happened: 'Too many wrong codes were sent. Not even the right one is taken any more.',
    remedy: 'Wait until the confirmation has run out, then start again.',
  },
  confirmation_not_pending: {
    ...caller,
    status: 409,
    title: 'Nothing to confirm',
    happened: 'The appointment does not await a code under this id, or not one that this client asked for.',
    remedy:
      'After a two-step cancellation was started, send the code to the new id. Only the client that started a confirmation can enter its code or have a fresh one sent.',
  },
  resend_limit_reached: {
    ...caller,
    status: 409,
    title: 'No more codes',
    happened: 'As many codes as one confirmation may have were sent.',
    remedy: 'Wait until the confirmation has run out, then start again.',
  },
  no_contact_channel: {
    ...caller,
    status: 409,
    title: 'No contact channel',
    happened: 'A code is needed, and the patient has no phone number or e-mail address that it could be sent to.',
    remedy: 'Let the clinic add a phone number or e-mail address in the EHR, or make the change there.',
  },
  idempotency_in_progress: {
    ...caller,
    retryable: true,
    status: 409,
    title: 'Request in progress',
    happened: 'The first request with this `Idempotency-Key` has not been answered yet.',
    remedy: 'Send the same request again in a moment.',
  },
  content_too_large: {
    ...caller,
    status: 413,
    title: 'Content too large',
    happened: 'The body is larger than this operation takes.',
    remedy: 'Send less. The detail names the limit.',
  },
  uri_too_long: {
    ...caller,
    status: 414,
    title: 'URI too long',
    happened: 'The address is longer than the gateway reads.',
    remedy: 'Shorten the path or the query.',
  },
  media_type_unsupported: {
    ...caller,
    status: 415,
    title: 'Media type unsupported',
    happened: 'The body is not declared as JSON.',
    remedy: 'Send `content-type: application/json`.',
  },
  headers_too_large: {
    ...caller,
    status: 431,
    title: 'Headers too large',
    happened: 'The header section is larger than the gateway reads.',
    remedy: 'Send fewer or shorter headers.',
  },
  idempotency_key_reused: {
    ...caller,
    status: 422,
    title: 'Idempotency key reused',
    happened: 'The `Idempotency-Key` belongs to another request.',
    remedy: 'Use a new key for a new request.',
  },
  patient_limit_reached: {
    ...caller,
    retryable: true,
    status: 429,
    title: 'Too many codes for one patient',
    happened:
      'The patient has as many unconfirmed appointments or was sent as many codes as the clinic allows this client, or all clients together.',
    remedy: 'Let the person confirm what waits, or try again later.',
  },
  rate_limited: {
    ...caller,
    retryable: true,
    status: 429,
    title: 'Too many requests',
    happened: 'The client has sent more requests than it is granted for a while.',
    remedy: 'Wait as many seconds as the `Retry-After` header says.',
  },
  internal_error: {
    origin: 'gateway',
    retryable: false,
    status: 500,
    title: 'Internal error',
    happened: 'The gateway made a mistake.',
    remedy: 'Tell the operator of the gateway the `request_id`.',
  },
  operation_unsupported: {
    origin: 'ehr',
    retryable: false,
    status: 501,
    title: 'Operation unsupported',
    happened: 'This EHR does not offer the operation.',
    remedy: '`GET /api/emrs/{emr}` lists what it offers.',
  },
  ehr_rejected: {
    origin: 'ehr',
    retryable: false,
    status: 502,
    title: 'EHR rejected the request',
    happened: 'The EHR refused for a reason of its own. Nothing was changed.',
    remedy: 'Tell the operator of the gateway the `request_id`.',
  },
  partially_applied: {
    origin: 'ehr',
    retryable: false,
    status: 502,
    title: 'Partially applied',
    happened: 'The EHR took some of the changes and refused others, and the ones it took could not all be undone.',
    remedy: 'Look at every appointment that `errors` names.',
  },
  ehr_unavailable: {
    origin: 'ehr',
    retryable: true,
    status: 503,
    title: 'EHR unavailable',
    happened: 'The EHR cannot be reached. Nothing was changed.',
    remedy: 'Try again after as many seconds as the `Retry-After` header says.',
  },
  overloaded: {
    ...busy,
    status: 503,
    title: 'Overloaded',
    happened: 'The gateway has more to do than it can. Nothing was changed.',
    remedy: 'Try again after as many seconds as the `Retry-After` header says.',
  },
  database_unavailable: {
    ...busy,
    status: 503,
    title: 'Database unavailable',
    happened: "The gateway's own database cannot be reached.",
    remedy: 'Try again after as many seconds as the `Retry-After` header says.',
  },
  ehr_timeout: {
    origin: 'ehr',
    retryable: true,
    status: 504,
    title: 'EHR did not answer in time',
    happened: 'The EHR did not answer in time. Nothing was changed.',
    remedy: 'Try again.',
  },
  outcome_unknown: {
    origin: 'ehr',
    retryable: true,
    status: 504,
    title: 'Outcome unknown',
    happened: 'The EHR may or may not have made the change, and could not be asked.',
    remedy:
      'With an `Idempotency-Key`, send the same request again: the gateway finds out what it can. Without one, or when `retryable` is false, look at the appointment before the change is sent again under another key.',
  },
} as const satisfies Record<string, ReasonFacts>;

export type Reason = keyof typeof reasons;
export const reasonNames = Object.keys(reasons) as Reason[];

/** The class of an error, one to one with its HTTP status. */
const codes: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  409: 'CONFLICT',
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
