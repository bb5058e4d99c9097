/**
 * Why a connector could not do what it was asked, in words that every EHR shares. The gateway turns each kind into one
 * problem; a connector never speaks HTTP of its own accord. Reads answer `null` or an empty list for what does not
 * exist; only writes throw the `*_not_found` kinds.
 *
 * - `time_slot_unavailable`: no free time slot covers the range, or someone else was faster
 * - `appointment_cancelled`, `appointment_pending`, `appointment_not_held`: its state forbids the change
 * - `code_incorrect`, `code_expired`, `code_locked`: what an EHR that checks codes itself says of one
 * - `unsupported`: this EHR cannot do it at all
 * - `rejected`: the EHR refused for a reason that the port has no word for
 * - `unavailable`: the EHR could not be reached or says it is down: nothing was done
 * - `timeout`: the EHR did not answer a read in time
 * - `outcome_unknown`: a write may or may not have been done, and asking did not settle it
 */
export const connectorErrorKinds = [
  'patient_not_found',
  'resource_not_found',
  'healthcare_service_not_found',
  'appointment_not_found',
  'time_slot_unavailable',
  'appointment_cancelled',
  'appointment_pending',
  'appointment_not_held',
  'code_incorrect',
  'code_expired',
  'code_locked',
  'unsupported',
  'rejected',
  'unavailable',
  'timeout',
  'outcome_unknown',
] as const;
export type ConnectorErrorKind = (typeof connectorErrorKinds)[number];

/**
 * The only error a connector throws on purpose. The message may reach a log, so it holds no personal data: no
 * identifier of a patient, no text that the EHR sent. Put the cause in `cause`; it is never shown to a caller.
 */
export class ConnectorError extends Error {
  readonly kind: ConnectorErrorKind;
  /** For `unavailable`: how many seconds the EHR asked us to wait. */
  readonly retryAfterSeconds: number | undefined;
  /** For `code_incorrect`. */
  readonly attemptsRemaining: number | undefined;

  constructor(
    kind: ConnectorErrorKind,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number; attemptsRemaining?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'ConnectorError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.attemptsRemaining = options.attemptsRemaining;
  }
}
