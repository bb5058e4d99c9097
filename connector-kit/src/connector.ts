import type { PostgresPool } from 'kysely';
import type { AppointmentChangeOperations } from './appointment-changes.ts';
import type { DirectChanges } from './direct-changes.ts';
import type { DocumentOperations } from './documents.ts';
import type { EhrHttp } from './http.ts';
import type {
  PatientIdentifier,
  PatientIdentifierType,
  ResourceIdentifier,
  ResourceIdentifierType,
} from './identifiers.ts';
import type { InTurn } from './in-turn.ts';
import type { MedicalNoteOperations } from './medical-notes.ts';
import type { PatientOperations, PatientSearchKey } from './patients.ts';
import type { EhrPlace, ProbeReport, ServerDescription } from './probe.ts';
import type {
  Appointment,
  AppointmentState,
  CareUnit,
  HealthcareService,
  Patient,
  PatientDetails,
  Resource,
  TimeSlot,
} from './records.ts';
import type { ScheduleOperations } from './schedules.ts';
import type { User } from './users.ts';
import type { Write } from './writes.ts';

/** The kinds of change to an appointment. */
export const changeKinds = ['create', 'update', 'cancel', 'confirm', 'extend', 'release'] as const;
export type ChangeKind = (typeof changeKinds)[number];

/**
 * Facts about an EHR that change what the gateway does. An operation that the EHR does not support is not a flag: the
 * connector leaves the method out, and the gateway responds with `operation_unsupported`.
 */
export interface Capabilities {
  /** Always includes `emr_id`. The gateway rejects all other types without calling the connector. */
  readonly patientIdentifierTypes: readonly PatientIdentifierType[];
  /**
   * Of `patientIdentifierTypes`, those that the EHR takes as they are, because it has no patient look-up. The connector leaves
   * `findPatient` out. Its patient ids then are identifiers with their type, such as `se_personal_number:191212121212`, in
   * every query and change and in what it returns. The gateway alone turns them into tokens. Absent: the EHR has ids of its own.
   */
  readonly passesThrough?: readonly Exclude<PatientIdentifierType, 'emr_id'>[];
  /**
   * Whether a booking carries the name, phone number and e-mail address of the patient, and whether it must. Absent: it
   * cannot.
   */
  readonly patientDetails?: 'optional' | 'required';
  /**
   * An EHR that lists the appointments of one patient at a time. `listAppointments` throws `unsupported` for a query without a
   * patient. Absent: it can list those of a resource and of a range.
   */
  readonly appointmentsByPatient?: 'required';
  /** The longest comment of an appointment, in UTF-16 code units. Absent: as long as the gateway allows, 2,000 characters. */
  readonly commentLength?: number;
  /** Whether comments have only characters up to U+FFFF, and so no emoji. Absent: they have all. */
  readonly commentsWithoutEmoji?: boolean;
  /**
   * Whether the EHR no longer has an appointment once it is cancelled. An appointment that `findAppointments` does not return
   * then counts as cancelled, and a change to it throws `appointment_cancelled`. Absent: it keeps them.
   */
  readonly forgetsCancelled?: boolean;
  /**
   * Whether ids of appointments contain the patient's identifier, because the EHR finds an appointment by both only. The
   * gateway shows a token in place of each id.
   */
  readonly appointmentIdsNamePatients?: boolean;
  /**
   * Whether appointments that are booked can have ids that FHIR cannot name: of more than 64 letters, digits, `-` and `.`, or of
   * more than 45 bytes. The gateway then offers no Appointments in FHIR.
   */
  readonly longAppointmentIds?: boolean;
  /** By what `searchPatients` can be called: a family name with a birth date, a phone number. Absent: by both. */
  readonly patientSearchBy?: readonly PatientSearchKey[];
  /** Whether a search for time slots can be for one patient, and whether it must. Absent: it cannot. */
  readonly slotsByPatient?: 'optional' | 'required';
  /**
   * How many requests the EHR allows in a second, all gateways together. Operators can configure another figure. Absent: as
   * many as it can process.
   */
  readonly requestsPerSecond?: number;
  /** Always includes `emr_id`. */
  readonly resourceIdentifierTypes: readonly ResourceIdentifierType[];
  /**
   * The changes that `changeAppointments` supports. Without `confirm`, `extend` and `release` the EHR cannot hold a time
   * for a booking that awaits a code. The gateway then stores the booking as a draft and books it when the code is
   * confirmed; the time may be taken by then.
   */
  readonly changes: readonly ChangeKind[];
  /**
   * Whether `changeAppointments` makes several changes atomically. If not, the gateway calls it with one change at a time
   * and compensates the earlier changes if a later one fails. It rejects more than one change with `unsupported`.
   */
  readonly transactions: boolean;
  /**
   * The maximum number of changes in one transaction: three or more. `changeAppointments` rejects more with `unsupported`;
   * the gateway then sends them one at a time, as without transactions. Absent: no limit.
   */
  readonly changesPerTransaction?: number;
  /**
   * Whether a write that reaches the EHR late can be done a second time, although its operation is done by then. After a
   * write that was sent more than once, the gateway then calls `findOperation` again until nothing can arrive any more,
   * and `findOperation` removes what was done twice.
   */
  readonly repeatsLateWrites?: boolean;
  /**
   * The EHR cannot move an appointment to another time or resource. The gateway then books the new time with `create`,
   * and cancels the former appointment with `cancel`. Both must be in `changes`. `update`, if it is, changes only the
   * comment, and is rejected with `unsupported` if it has a time or a resource. The gateway tells callers the former id
   * as `supersedes_id`.
   */
  readonly rebooks?: true;
  /**
   * The EHR moves an appointment in one step, and gives it a new id. An `update` with a time or a resource always does so: it
   * returns the new appointment, and the former one is cancelled. Without them `update` changes the comment, and the id stays.
   * Needs `update` in `changes`, and excludes `rebooks`. The gateway tells callers the former id as `supersedes_id`.
   */
  readonly movesToNewId?: true;
  /**
   * The EHR takes a change as a whole record and compares no version, so that a change which staff make to the same appointment
   * between the connector's read and its write can be lost, such as a comment. A cancellation is never undone. Absent: nothing is
   * overwritten.
   */
  readonly lastWriteWins?: true;
  /**
   * For how many days ahead the EHR has time slots for a schedule. Later slots follow as time passes. Absent: for all its
   * occurrences.
   */
  readonly slotHorizonDays?: number;
}

/** The booking that a patient is looked up for. */
export interface IntendedBooking {
  readonly careUnit: CareUnit;
  readonly resource: ResourceIdentifier;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
}

/** Paging position: the sort keys of the last entry that the caller has already seen. */
export interface AppointmentPosition {
  readonly start: Date;
  readonly id: string;
}
/** Paging position: the sort keys of the last slot that the caller has already seen. */
export interface TimeSlotPosition {
  readonly start: Date;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
}

/** Which appointments to list. Appointments must match all filters. */
export interface AppointmentQuery {
  readonly careUnit: CareUnit;
  readonly patientId?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Appointments that overlap the range: `start < range.end` and `end > range.start`. */
  readonly range?: { readonly start: Date; readonly end: Date } | undefined;
  /** Empty or absent: all. */
  readonly states?: readonly AppointmentState[] | undefined;
  readonly after?: AppointmentPosition | undefined;
  readonly limit: number;
}

/** Which free time slots to list. Slots must match all filters. */
export interface TimeSlotQuery {
  readonly careUnit: CareUnit;
  /** Only slots that lie wholly inside the range. Slots that have started are left out. */
  readonly start: Date;
  readonly end: Date;
  /** Absent: every resource of the care unit. */
  readonly resourceIds?: readonly string[] | undefined;
  /** Absent: every healthcare service. */
  readonly healthcareServiceIds?: readonly string[] | undefined;
  /** Ids of appointments whose time counts as free, because the caller is about to move or cancel them. */
  readonly freeing?: readonly string[] | undefined;
  /** Only slots that this patient can book. Absent if nobody has named one, or without `slotsByPatient`. */
  readonly patientId?: string | undefined;
  /** Only slots to which this appointment can be moved. */
  readonly forAppointment?: string | undefined;
  readonly after?: TimeSlotPosition | undefined;
  readonly limit: number;
}

/**
 * Books a time, or holds it until `holdUntil`, a time of the gateway's clock (`now` of the context). Whose clock ends the
 * hold is up to the EHR; the connector converts the time. An expired hold frees its time immediately.
 */
export interface AppointmentCreation {
  readonly kind: 'create';
  readonly patientId: string;
  readonly resourceId: string;
  readonly healthcareServiceId: string;
  readonly start: Date;
  readonly end: Date;
  readonly comment: string | null;
  readonly holdUntil: Date | null;
  /** Present if the caller has sent them. Always present if `patientDetails` is `required`. */
  readonly patientDetails?: PatientDetails | undefined;
}

/**
 * Updates a booked appointment. Absent fields keep their value. The appointment's own time counts as free. Throws
 * `appointment_started` for a new time or resource of a visit that has started.
 */
export interface AppointmentUpdate {
  readonly kind: 'update';
  readonly appointmentId: string;
  readonly time?: { readonly start: Date; readonly end: Date } | undefined;
  readonly resourceId?: string | undefined;
  readonly comment?: string | null | undefined;
}

/**
 * Cancels an appointment that is booked, or pending in the EHR, and frees its time. A cancelled appointment is not changed.
 * Throws `appointment_started` for a visit that has started, and `appointment_pending` for a held one.
 */
export interface AppointmentCancellation {
  readonly kind: 'cancel';
  readonly appointmentId: string;
  /** Replaces the appointment's comment. Absent: the comment is kept. */
  readonly comment?: string | null | undefined;
}

/** Books a held appointment. The EHR may also book an expired hold while its time is still free. */
export interface HoldConfirmation {
  readonly kind: 'confirm';
  readonly appointmentId: string;
}

/** Extends a hold. Throws `appointment_not_held` if the hold has expired. */
export interface HoldExtension {
  readonly kind: 'extend';
  readonly appointmentId: string;
  readonly holdUntil: Date;
}

/**
 * Releases a hold: cancels it and frees its time. An expired hold is cancelled too, so that the EHR's own staff see it
 * as cancelled. Throws `appointment_not_held` if the appointment is booked. A cancelled appointment is not changed.
 */
export interface HoldRelease {
  readonly kind: 'release';
  readonly appointmentId: string;
  /** Replaces the appointment's comment. Absent: the comment is kept. */
  readonly comment?: string | null | undefined;
}

/** A change to one appointment. */
export type AppointmentChange =
  | AppointmentCreation
  | AppointmentUpdate
  | AppointmentCancellation
  | HoldConfirmation
  | HoldExtension
  | HoldRelease;

/** A write that makes all its changes or none. */
export interface AppointmentWrite extends Write {
  /**
   * Whether this is the first call with this operation id, and no other call with it is in progress. The connector may
   * then write without a look-up. Absent: an earlier call may have been made.
   */
  readonly isFirst?: boolean;
  readonly changes: readonly AppointmentChange[];
}

/** The changes of a write that was interrupted, in an EHR that does not find operations by id. */
export interface InterruptedChanges {
  readonly careUnit: CareUnit;
  /** Those of which the gateway has seen that they were made. */
  readonly made: readonly AppointmentChange[];
  /** The others. */
  readonly notSeen: readonly AppointmentChange[];
  /** A time before the first call of the write, by the gateway's clock. */
  readonly since: Date;
}

/**
 * The operations of the port. A connector implements the ones that its EHR supports. They throw only `ConnectorError`;
 * any other error counts as a bug in the connector. Ids in queries are the EHR's own (`emr_id` values).
 */
export interface ConnectorOperations
  extends AppointmentChangeOperations,
    MedicalNoteOperations,
    DocumentOperations,
    PatientOperations,
    ScheduleOperations {
  /**
   * The patient with this identifier, or `null`.
   *
   * @param intended the booking that follows if everything is in order. A connector may read ahead what it needs for it.
   */
  findPatient(identifier: PatientIdentifier, intended?: IntendedBooking): Promise<Patient | null>;

  /** The resource of this care unit with this identifier. `null`: not found, or it belongs to another care unit. */
  findResource(careUnit: CareUnit, identifier: ResourceIdentifier): Promise<Resource | null>;
  /** All resources of the care unit, ordered by id (code units). */
  listResources(careUnit: CareUnit): Promise<readonly Resource[]>;

  /**
   * All bookable healthcare services of the care unit, ordered by id (code units).
   *
   * @param wanted ids that the caller looks for. A connector that keeps the list reads it anew if one of them is missing.
   * @param patientId who wants them, if it is known: an EHR may offer some services to some patients only. Other EHRs ignore it.
   */
  listHealthcareServices(
    careUnit: CareUnit,
    wanted?: readonly string[],
    patientId?: string,
  ): Promise<readonly HealthcareService[]>;

  /** Free time slots ordered by start, resource id, service id (code units): at most `limit`, after `after`. */
  listTimeSlots(query: TimeSlotQuery): Promise<readonly TimeSlot[]>;

  /** The appointments with these ids that belong to this care unit, in any order. */
  findAppointments(careUnit: CareUnit, appointmentIds: readonly string[]): Promise<readonly Appointment[]>;
  /** Appointments ordered by start, id (code units): at most `limit`, after `after`. */
  listAppointments(query: AppointmentQuery): Promise<readonly Appointment[]>;

  /**
   * Makes all changes or none, and returns the appointments in the order of the changes. Cancellations free their time
   * for the other changes.
   *
   * A time that is booked, held or moved to must start where a free time slot of the resource and service starts, end
   * where one ends, and be covered by free slots without a gap. Otherwise it throws `time_slot_unavailable`. If several
   * calls want the same time concurrently, exactly one succeeds.
   */
  changeAppointments(write: AppointmentWrite): Promise<readonly Appointment[]>;
  /**
   * The appointments of the write with this operation id, in the order of its changes. `null`: the write was never done.
   * A connector that implements it never repeats a write with a known operation id. If it is missing, the gateway never
   * retries a write.
   *
   * @param changes those of the write. A connector that takes times before it makes an appointment frees those that an
   *   interrupted write has left, and throws `outcome_unknown` until then.
   */
  findOperation(
    careUnit: CareUnit,
    operationId: string,
    changes?: readonly AppointmentChange[],
  ): Promise<readonly Appointment[] | null>;
  /**
   * For an EHR that keeps no operation ids. Completes what the changes in `made` have left open: one that takes a time for which
   * there turns out to be no room is taken back, and not found afterwards. Makes sure that no earlier call makes any of the
   * changes in `notSeen` late, if the EHR refuses a write of records that were changed since they were read. Returns `false` if
   * one of `notSeen` may still be made, or may have been made, and undone by others since: it must not be made again. Safe to
   * call again.
   */
  settleChanges(changes: InterruptedChanges): Promise<boolean>;
}

/** The name of a method of the port. */
export type ConnectorOperation = keyof ConnectorOperations;

/** The methods that write in the EHR. One that gets no response may have been done. */
export const writeOperations = [
  'changeAppointments',
  'createPatient',
  'createMedicalNote',
  'withdrawMedicalNote',
  'createDocument',
  'withdrawDocument',
  'createSchedule',
  'endSchedule',
  'addScheduleException',
  'withdrawSchedule',
  'extendSchedules',
] as const satisfies readonly ConnectorOperation[];

/** A connection to one EHR. It is open from the gateway's start to its stop. */
export interface Connector extends Partial<ConnectorOperations> {
  readonly capabilities: Capabilities;
}

/** A care unit with its configuration. */
export interface ConfiguredCareUnit extends CareUnit {
  /** Connector-specific settings of the care unit. The connector validates them in `open`. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

/** A record of the EHR that a connector could not read, and left out of a result. */
export interface LeftOutRecord {
  /** What it is in the words of the EHR, such as `Appointment`. From a fixed list of the connector. */
  readonly type: string;
  /** Its id in the EHR, so that it is counted once. It is never shown. Absent: the record has none. */
  readonly id?: string | undefined;
  /** Where it cannot be read, as a JSON Pointer such as `/participant/0/actor`. Contains nothing from the record. */
  readonly path: string;
}

/** What the gateway passes to a connector to open a connection. */
export interface ConnectorContext<Settings> {
  /** The connection's id, `{emr}` in the paths. */
  readonly emr: string;
  /** Validated against `settingsSchema`. Each `{ env: NAME }` is replaced by a `SecretValue`. */
  readonly settings: Settings;
  readonly careUnits: readonly ConfiguredCareUnit[];
  /** The HTTP client for the EHR. */
  readonly http: EhrHttp;
  /**
   * The gateway's time: that of its database, which all gateways share. Times at the port, such as `holdUntil`, are by this
   * clock. That of the machine (`Date.now()`) can be wrong.
   */
  now(): Date;
  /**
   * Who makes the request that the connector's current call belongs to, for an EHR that wants a person. `undefined` in the
   * background, and if the client names nobody.
   */
  user?(): User | undefined;
  /**
   * Counts a record that cannot be read and is left out, so that it hides no other. Operators see the type, how many there are
   * and the path of the first. Absent: nobody counts.
   */
  leftOut?(record: LeftOutRecord): void;
  /**
   * Takes turns with all gateways of this EHR, for one that does not itself refuse the second of two bookings. Absent: only this
   * process writes to it.
   */
  readonly inTurn?: InTurn;
}

/** The context of a connector with migrations. */
export interface DatabaseContext<Settings> extends ConnectorContext<Settings> {
  /** The gateway's database. */
  readonly database: PostgresPool;
}

interface ModuleWith<Context> {
  /** The name in the configuration's `connector`, if the connector is built in. Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** What it connects to, for operators who choose it in the console, such as `GNU Health 5`. Default: its name. */
  readonly title?: string;
  /** Set by `defineConnector`. Plug-ins must have it. */
  readonly kitVersion?: number;
  /** JSON Schema of the connection's `settings`. A secret is a `secretSchema`. */
  readonly settingsSchema: object;
  open(context: Context): Promise<Connector>;
  /**
   * Examines the server before the connection is used: whether it can be reached, whether sign-in works, what it supports,
   * and which settings to use. `crossward emr check` prints the report. Failures are reported as findings, not thrown.
   * The probe removes everything that it writes in the EHR.
   */
  probe?(context: Context): Promise<ProbeReport>;
  /**
   * Asks the server what it is, in a few requests that read. The gateway asks once a day, and tells operators when the answer becomes
   * another. It also asks before a connection with other settings replaces one that is in use. So it contains nothing that depends on records, and no patient data. It throws a ConnectorError if the server cannot say.
   */
  describe?(context: Context): Promise<ServerDescription>;
  /**
   * The places of which care units can be made: some hundreds at most. The console offers them when an EHR is connected. Throws a
   * ConnectorError if the server cannot say.
   */
  places?(context: Context): Promise<readonly EhrPlace[]>;
  /**
   * Returns functions that change appointments in the EHR without the connector's own writes, as the EHR's staff would.
   * `crossward conformance --direct-changes` uses them to check that the connector sees such changes and keeps them. The
   * gateway never calls them.
   *
   * @throws ConnectorError if the EHR cannot be reached or rejects the sign-in
   */
  directChanges?(context: Context): Promise<DirectChanges>;
}

/** A connector that keeps its data in the EHR. It gets no database. */
export interface StatelessConnectorModule<Settings = unknown> extends ModuleWith<ConnectorContext<Settings>> {
  readonly migrations?: never;
}

/** A connector that keeps data in the gateway's database, in tables that its migrations create. */
export interface DatabaseConnectorModule<Settings = unknown> extends ModuleWith<DatabaseContext<Settings>> {
  /** Folder of numbered SQL files. */
  readonly migrations: URL;
}

/** One kind of EHR: what a connector's folder exports. */
export type ConnectorModule<Settings = unknown> =
  | StatelessConnectorModule<Settings>
  | DatabaseConnectorModule<Settings>;
