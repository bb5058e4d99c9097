/**
 * The reasons why an operation can fail, the same for every EHR. The gateway maps each kind to one problem document.
 * Reads return `null` or an empty list for unknown ids; only writes throw the `*_not_found` kinds.
 *
 * - `patient_inactive`: the patient's record is out of use, or says that the patient has died
 * - `patient_ambiguous`: several records have the identifier, and none of them says that it replaces the others. A connector
 *   never chooses one
 * - `time_slot_unavailable`: free time slots do not cover the range, or another booking took the time first
 * - `appointment_cancelled`, `appointment_pending`, `appointment_started`, `appointment_not_held`: the appointment's state
 *   does not allow the change
 * - `change_not_allowed`: the EHR does not allow this change of this appointment, for a reason that no other kind covers
 * - `schedule_overlap`: another schedule of the resource has occurrences at the same times
 * - `schedule_has_appointments`: appointments take slots that the write would remove
 * - `unsupported`: the EHR does not support the operation
 * - `rejected`: the EHR rejected the call, for a reason that no other kind covers
 * - `unavailable`: the EHR could not be reached or reported that it is down; nothing was changed
 * - `timeout`: a read timed out
 * - `connection_closed`: the connection closed before the response to a read; otherwise as `timeout`
 * - `outcome_unknown`: a write may or may not have been done, and a look-up could not tell
 *
 * In a call that has sent a write through the gateway's HTTP client, the gateway itself replaces what a later failure throws by
 * `outcome_unknown` (http.ts, `EhrHttp`). A connector with a client of its own, or with a database, must do so itself: after its
 * write has been sent, `unavailable`, `rejected` and every definite kind say that nothing of it stands.
 */
export const connectorErrorKinds = [
  'patient_not_found',
  'patient_inactive',
  'patient_ambiguous',
  'resource_not_found',
  'healthcare_service_not_found',
  'appointment_not_found',
  'schedule_not_found',
  'time_slot_unavailable',
  'appointment_cancelled',
  'appointment_pending',
  'appointment_started',
  'appointment_not_held',
  'change_not_allowed',
  'schedule_overlap',
  'schedule_has_appointments',
  'unsupported',
  'rejected',
  'unavailable',
  'timeout',
  'connection_closed',
  'outcome_unknown',
] as const;
export type ConnectorErrorKind = (typeof connectorErrorKinds)[number];

/** How the EHR refused a request: values of a closed list, never its own words. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number;
  /** The class of the exception, the code of the fault or the like. Logged if it looks like a name. */
  readonly code?: string | undefined;
}

/** A plug-in has its own copy of this file. Errors of every copy carry the same symbol. */
const brand = Symbol.for('@crossward/connector-kit/ConnectorError');

/**
 * The only error that a connector throws on purpose. The message may be logged, so it must contain no personal data: no
 * patient identifier, no text from the EHR. Put the underlying error in `cause`; callers never see it.
 *
 * `instanceof` recognises errors of other copies of the kit, too, if this copy knows their kind.
 */
export class ConnectorError extends Error {
  readonly [brand] = true;
  readonly kind: ConnectorErrorKind;
  /** For `unavailable`: the `Retry-After` of the EHR, in seconds. */
  readonly retryAfterSeconds: number | undefined;
  /** For `schedule_has_appointments`. */
  readonly appointmentIds: readonly string[];
  /**
   * What the EHR asks to tell the person about the failure. It becomes the `detail` of the response, and is never logged. The
   * gateway shows up to 500 characters of it, without control characters.
   */
  readonly publicDetail: string | undefined;
  /**
   * Whether the connector is certain that nothing of this call stands in the EHR, although a write was sent and not refused: it
   * has undone the write, or has found out that it was not done and cannot be done any more.
   */
  readonly nothingChanged: boolean;
  /** The refusal of the EHR, for the log. */
  readonly refusal: Refusal | undefined;
  /** Whether the EHR is out of order, if the kind and the refusal do not tell: see `isFaultOfEhr`. */
  readonly fault: boolean | undefined;

  constructor(
    kind: ConnectorErrorKind,
    message: string,
    options: {
      cause?: unknown;
      retryAfterSeconds?: number;
      appointmentIds?: readonly string[];
      publicDetail?: string | undefined;
      nothingChanged?: boolean;
      refusal?: Refusal | undefined;
      fault?: boolean | undefined;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ConnectorError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.appointmentIds = options.appointmentIds ?? [];
    this.publicDetail = options.publicDetail;
    this.nothingChanged = options.nothingChanged ?? false;
    this.refusal = options.refusal;
    this.fault = options.fault;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore-start lint/complexity/noThisInStatic: subclasses inherit this method.
    if (this !== ConnectorError) return Function.prototype[Symbol.hasInstance].call(this, value);
    // biome-ignore-end lint/complexity/noThisInStatic: -
    if (typeof value !== 'object' || value === null || !(brand in value)) return false;
    return 'kind' in value && connectorErrorKinds.some((kind) => kind === value.kind);
  }
}

const faults: readonly ConnectorErrorKind[] = ['unavailable', 'timeout', 'connection_closed', 'outcome_unknown'];

/**
 * Whether an error says that the EHR is out of order, for every request alike: it is silent, answers with 5xx or with something
 * that is no answer, or lets nobody sign in. Otherwise it has refused this one request, or one of its records cannot be read.
 * This is the one place that decides it, for the circuit breaker, and so for all that tells of the EHR's state.
 *
 * The connector's `fault` decides, if it has set it: `true` for a body that is none of the EHR's, such as the page of a proxy;
 * `false` for a protocol in which a refusal has status 500, such as SOAP.
 *
 * @param status of the EHR's last answer, for an error without a refusal
 */
export function isFaultOfEhr(error: ConnectorError, status?: number): boolean {
  if (error.fault !== undefined) return error.fault;
  if (faults.includes(error.kind)) return true;
  return error.kind === 'rejected' && isFaultStatus(error.refusal?.status ?? status);
}

/** Of HTTP: 401 is no sign-in; 495 and 496 are nginx's for a client certificate that is not accepted, or missing. */
export function isFaultStatus(status: number | undefined): boolean {
  if (status === undefined) return false;
  return (status >= 500 && status !== 501) || [401, 495, 496].includes(status);
}
