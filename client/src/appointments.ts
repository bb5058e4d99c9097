import { type BulkAppointments, bulkAppointmentMethods } from './bulk-appointments.ts';
import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import { type List, listOf } from './pages.ts';
import type {
  Appointment,
  AppointmentCreation,
  AppointmentPreview,
  AppointmentUpdate,
  CallOptions,
  Cancellation,
  QueryOf,
  Schemas,
  WriteOptions,
} from './types.ts';

/** The methods named `preview…` are dry runs: they check everything and change nothing. */
export interface Appointments extends BulkAppointments {
  /** Needs `patient_id`, `resource_id`, or both `start` and `end`. */
  list(query: QueryOf<'list_appointments'>, options?: CallOptions): List<Appointment>;
  get(appointmentId: string, options?: CallOptions): Promise<Appointment>;
  create(appointment: AppointmentCreation, options?: WriteOptions): Promise<Appointment>;
  previewCreate(appointment: AppointmentCreation, options?: CallOptions): Promise<AppointmentPreview>;
  /** Moves the appointment, or changes its resource or comment. */
  update(appointmentId: string, update: AppointmentUpdate, options?: WriteOptions): Promise<Appointment>;
  previewUpdate(appointmentId: string, update: AppointmentUpdate, options?: CallOptions): Promise<AppointmentPreview>;
  /** If the care unit requires a code, the result has a new id, to `confirm`. */
  cancel(appointmentId: string, cancellation?: Cancellation, options?: WriteOptions): Promise<Appointment>;
  previewCancel(appointmentId: string, cancellation?: Cancellation, options?: CallOptions): Promise<AppointmentPreview>;
  /** @param code the code that the patient received */
  confirm(appointmentId: string, code: string, options?: WriteOptions): Promise<Appointment>;
  /** Sends the patient a new code. */
  resendCode(appointmentId: string, options?: WriteOptions): Promise<Appointment>;
}

type Change = AppointmentUpdate | Schemas['AppointmentCancellation'] | Schemas['AppointmentConfirmation'];

export function appointmentMethods(connection: Connection, place: CareUnitPlace): Appointments {
  const { raw, caller } = connection;
  const all = `${inCareUnit}/appointments` as const;
  const one = `${inCareUnit}/appointments/{appointment_id}` as const;

  // The type of the response is a union. Which one it is follows from `dry_run`.
  const change = (appointment_id: string, body: Change, options: WriteOptions | undefined) =>
    caller.write(options, (init) =>
      raw.PATCH(one, { ...init, params: { path: { ...place, appointment_id } }, body }),
    ) as Promise<Appointment>;
  const preview = (appointment_id: string, body: Change, options: CallOptions | undefined) =>
    caller.read(options, (init) =>
      raw.PATCH(one, { ...init, params: { path: { ...place, appointment_id }, query: { dry_run: true } }, body }),
    ) as Promise<AppointmentPreview>;

  return {
    ...bulkAppointmentMethods(connection, place),
    list: (query, options) =>
      listOf('appointments', query, (cursor) =>
        caller.read(options, (init) =>
          raw.GET(all, { ...init, params: { path: place, query: { ...query, ...cursor } } }),
        ),
      ),
    get: (appointment_id, options) =>
      caller.read(options, (init) => raw.GET(one, { ...init, params: { path: { ...place, appointment_id } } })),
    create: (body, options) =>
      caller.write(options, (init) =>
        raw.POST(all, { ...init, params: { path: place }, body }),
      ) as Promise<Appointment>,
    previewCreate: (body, options) =>
      caller.read(options, (init) =>
        raw.POST(all, { ...init, params: { path: place, query: { dry_run: true } }, body }),
      ) as Promise<AppointmentPreview>,
    update: change,
    previewUpdate: preview,
    cancel: (id, cancellation, options) => change(id, { ...cancellation, status: 'cancelled' }, options),
    previewCancel: (id, cancellation, options) => preview(id, { ...cancellation, status: 'cancelled' }, options),
    confirm: (id, code, options) => change(id, { confirmation: { code } }, options),
    resendCode: (appointment_id, options) =>
      caller.write(options, (init) =>
        raw.POST(`${one}/confirmation`, { ...init, params: { path: { ...place, appointment_id } } }),
      ),
  };
}
