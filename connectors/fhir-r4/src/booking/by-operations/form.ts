import type { CareUnitDirectory } from '../../directory/directory.ts';
import type { FhirAppointment, Parameter } from '../../fhir.ts';
import { type AppointmentDialect, patientIdOf } from '../../mappers/appointment.ts';
import type { BookingConnection } from '../../server/connection.ts';
import type { FreeTimeSource } from '../../slots/list.ts';
import type { NeededTime } from '../changes/drafts.ts';
import type { SingleChange } from '../changes/single.ts';

/** The patient of an appointment, and its comment. */
export interface Words {
  /** `Patient/1` */
  readonly patient: string;
  readonly comment: string | undefined;
}

export function wordsOf(appointment: FhirAppointment, { commentField }: AppointmentDialect): Words {
  return { patient: `Patient/${patientIdOf(appointment)}`, comment: appointment[commentField] };
}

/** A new appointment that is to be booked or held. */
export interface Wanted extends Words {
  readonly appointment: FhirAppointment;
  readonly directory: CareUnitDirectory;
  readonly resourceId: string;
  readonly serviceId: string | null;
  /** `Practitioner/1` of the resource. */
  readonly actor: string;
  readonly start: Date;
  readonly end: Date;
}

export interface OperationCall {
  readonly path: string;
  readonly parameter: readonly Parameter[];
}

/** The names and parameters of the scheduling operations of one kind of server. */
export interface OperationForm {
  /**
   * Whether `$book` and `$hold` store additional elements of the appointment, such as the operation id. Otherwise the
   * connector cannot write the id together with the appointment, and does not look for it.
   */
  readonly takesAppointment: boolean;
  /** Whether its servers are known to keep these elements, and to find an appointment by its operation id. */
  readonly keepsOperationIds?: true;
  /** Appointments that the server proposes around the time. `null`: its `$book` needs no proposal. */
  readonly propose: ((ehr: BookingConnection, wanted: Wanted) => Promise<readonly FhirAppointment[]>) | null;
  /** `chosen` is a proposal, or the appointment itself if the server proposes none. */
  book(ehr: BookingConnection, chosen: FhirAppointment, words: Words): Promise<OperationCall>;
  /** `null`: there is no `$hold`. */
  readonly hold: {
    take(chosen: FhirAppointment): OperationCall;
    confirm(ehr: BookingConnection, held: FhirAppointment, words: Words): Promise<OperationCall>;
  } | null;
  /** Cancels without an update of the Appointment. `null`: there is no such operation. */
  readonly cancel: ((cancelled: FhirAppointment) => OperationCall) | null;
  /** For a server that computes free times and has no free Slots. */
  readonly computed?: {
    freeTimes(ehr: BookingConnection): FreeTimeSource;
    move(
      ehr: BookingConnection,
      change: SingleChange,
      before: FhirAppointment,
      needed: NeededTime,
    ): Promise<FhirAppointment>;
  };
  /** Cleans up after an appointment was cancelled. */
  readonly afterCancel?: (ehr: BookingConnection, appointment: FhirAppointment) => Promise<void>;
}

export const bookPath = 'Appointment/$book';
export const holdPath = 'Appointment/$hold';
