import { ConnectorError, type ConnectorErrorKind } from '@crossward/connector-kit';
import { readRecord } from '@crossward/connector-kit/rest';
import type { FhirResource } from './fhir.ts';
import { outcomeSchema } from './records.ts';

interface Meaning {
  readonly kind: ConnectorErrorKind;
  /** What the caller is told. Absent: what the kind says. */
  readonly publicDetail?: string;
}

/**
 * What each error code of the Spine means:
 * https://developer.nhs.uk/apis/gpconnect-1-2-7/development_fhir_error_handling_guidance.html
 */
export const spineErrors = {
  BAD_REQUEST: { kind: 'rejected' },
  INVALID_IDENTIFIER_SYSTEM: { kind: 'rejected' },
  INVALID_IDENTIFIER_VALUE: { kind: 'rejected' },
  /** No patient can have this number. */
  INVALID_NHS_NUMBER: { kind: 'patient_not_found' },
  INVALID_PARAMETER: { kind: 'rejected' },
  INVALID_RESOURCE: { kind: 'rejected' },
  INVALID_PATIENT_DEMOGRAPHICS: { kind: 'rejected' },
  PARAMETER_NOT_FOUND: { kind: 'rejected' },
  NO_PATIENT_CONSENT: {
    kind: 'rejected',
    publicDetail: 'The practice says that the patient has not agreed to share data with your organisation.',
  },
  NO_ORGANISATION_CONSENT: {
    kind: 'rejected',
    publicDetail: 'The practice says that it has not agreed to share data with your organisation.',
  },
  ACCESS_DENIED: { kind: 'rejected', publicDetail: 'The practice does not allow your organisation to do this.' },
  ORGANISATION_NOT_FOUND: { kind: 'rejected' },
  PATIENT_NOT_FOUND: { kind: 'patient_not_found' },
  PRACTITIONER_NOT_FOUND: { kind: 'resource_not_found' },
  /** Of appointments. Requests for anything else have a code of their own. */
  NO_RECORD_FOUND: { kind: 'appointment_not_found' },
  REFERENCE_NOT_FOUND: { kind: 'appointment_not_found' },
  /** The appointment has changed since it was read. Nothing was changed, and a later attempt can succeed. */
  FHIR_CONSTRAINT_VIOLATION: { kind: 'unavailable' },
  /** The slot is no longer free. */
  DUPLICATE_REJECTED: { kind: 'time_slot_unavailable' },
  NOT_IMPLEMENTED: { kind: 'unsupported' },
} as const satisfies Record<string, Meaning>;
export type SpineCode = keyof typeof spineErrors;

/** What statuses mean without a code. 461, 495 and 496 are not standard. The last two can come with BAD_REQUEST. */
const statuses: Readonly<Record<number, Meaning & { readonly words?: string }>> = {
  495: { kind: 'rejected', words: ': it does not accept the client certificate' },
  496: { kind: 'rejected', words: ': it requires a client certificate' },
  461: { kind: 'rejected', publicDetail: 'The practice says that it is too late to do this.' },
  404: { kind: 'appointment_not_found' },
  408: { kind: 'timeout' },
  412: { kind: 'unavailable' },
  501: { kind: 'unsupported' },
};

/** An answer of the practice that is an error. Its message has the status and the code, never the practice's words. */
export class SpineError extends ConnectorError {
  readonly status: number;
  /** `undefined`: none, or one that the connector does not know. */
  readonly code: SpineCode | undefined;

  constructor(status: number, answer: FhirResource | undefined, what: string) {
    const code = codeOf(answer);
    // A proxy says 404, too, and the practice with an outcome.
    const ofStatus = status === 404 && !isOutcome(answer) ? undefined : statuses[status];
    const { kind, publicDetail }: Meaning = (code && spineErrors[code]) ?? ofStatus ?? { kind: 'rejected' };
    const words = `The EHR responded with ${status}${code ? ` (${code})` : ''} to ${what}${ofStatus?.words ?? ''}`;
    super(kind, words, {
      publicDetail,
      refusal: { status, code },
      // The appointment has changed in between.
      fault: kind === 'unavailable' ? false : undefined,
      ...(kind === 'unavailable' ? { retryAfterSeconds: 1 } : {}),
    });
    this.status = status;
    this.code = code;
  }

  /** Whether the practice has refused, so that nothing was changed. After any other fault, a write may have been made. */
  get isRefusal(): boolean {
    return this.status < 500 || this.status === 501 || this.code !== undefined;
  }

  /** Whether the appointment has changed since it was read. Whole seconds as versions hide some changes from `If-Match`. */
  get mayBeStale(): boolean {
    return this.status === 412 || this.code === 'FHIR_CONSTRAINT_VIOLATION' || this.code === 'INVALID_RESOURCE';
  }

  /** Whether the practice faults the request as a whole. 495, 496 and 500 can come with this code too. */
  get isBadRequest(): boolean {
    return this.status === 400 && this.code === 'BAD_REQUEST';
  }

  /** Whether the practice does not have what was asked for. */
  get isAbsence(): boolean {
    return this.kind === 'appointment_not_found' || this.kind === 'patient_not_found';
  }
}

export function nullIfAbsent(error: unknown): null {
  if (error instanceof SpineError && error.isAbsence) return null;
  throw error;
}

export function isOutcome(answer: FhirResource | undefined): boolean {
  return answer?.resourceType === 'OperationOutcome';
}

/** Whether it is an outcome that says that something has failed. One that cannot be read may say so. */
export function isError(answer: FhirResource): boolean {
  const issues = issuesOf(answer);
  return isOutcome(answer) && (issues?.some(({ severity }) => severity === 'error' || severity === 'fatal') ?? true);
}

function issuesOf(answer: FhirResource | undefined) {
  return isOutcome(answer) ? readRecord(outcomeSchema, answer).record?.issue : undefined;
}

/** Pages of GP Connect disagree about the system of the codes, so it is not looked at. */
function codeOf(answer: FhirResource | undefined): SpineCode | undefined {
  const codes = issuesOf(answer)?.flatMap(({ details }) => details?.coding?.map(({ code }) => code) ?? []);
  return codes?.find((it): it is SpineCode => it !== undefined && Object.hasOwn(spineErrors, it));
}
