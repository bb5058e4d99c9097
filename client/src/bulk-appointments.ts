import { type CareUnitPlace, type Connection, inCareUnit } from './connection.ts';
import type { Appointment, AppointmentPreview, CallOptions, Cancellation, Schemas, WriteOptions } from './types.ts';

type BulkUpdate = Omit<Schemas['BulkUpdate'], 'ids'>;
type BulkChange = Schemas['BulkUpdate'] | Schemas['BulkCancellation'] | Schemas['BulkConfirmation'];

/** Changes of up to 100 appointments, all or none. */
export interface BulkAppointments {
  /** With `start` and `end`: places the appointments in the consecutive time slots of the range. */
  updateMany(ids: readonly string[], update: BulkUpdate, options?: WriteOptions): Promise<Appointment[]>;
  previewUpdateMany(ids: readonly string[], update: BulkUpdate, options?: CallOptions): Promise<AppointmentPreview[]>;
  cancelMany(ids: readonly string[], cancellation?: Cancellation, options?: WriteOptions): Promise<Appointment[]>;
  previewCancelMany(
    ids: readonly string[],
    cancellation?: Cancellation,
    options?: CallOptions,
  ): Promise<AppointmentPreview[]>;
  /** All ids must await the same code. */
  confirmMany(ids: readonly string[], code: string, options?: WriteOptions): Promise<Appointment[]>;
}

export function bulkAppointmentMethods({ raw, caller }: Connection, place: CareUnitPlace): BulkAppointments {
  const path = `${inCareUnit}/appointments` as const;
  // The type of the response is a union. Which one it is follows from `dry_run`.
  const change = async (body: BulkChange, options: WriteOptions | undefined) => {
    const { appointments } = await caller.write(options, (init) =>
      raw.PATCH(path, { ...init, params: { path: place }, body }),
    );
    return appointments as Appointment[];
  };
  const preview = async (body: BulkChange, options: CallOptions | undefined) => {
    const { appointments } = await caller.read(options, (init) =>
      raw.PATCH(path, { ...init, params: { path: place, query: { dry_run: true } }, body }),
    );
    return appointments as AppointmentPreview[];
  };
  return {
    updateMany: (ids, update, options) => change({ ...update, ids: [...ids] }, options),
    previewUpdateMany: (ids, update, options) => preview({ ...update, ids: [...ids] }, options),
    cancelMany: (ids, cancellation, options) =>
      change({ ...cancellation, ids: [...ids], status: 'cancelled' }, options),
    previewCancelMany: (ids, cancellation, options) =>
      preview({ ...cancellation, ids: [...ids], status: 'cancelled' }, options),
    confirmMany: (ids, code, options) => change({ ids: [...ids], confirmation: { code } }, options),
  };
}
