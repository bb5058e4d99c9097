import { grouped } from '@crossward/connector-kit/database';
import { type Kysely, sql } from 'kysely';
import { isOfOneWrite } from './database-errors.ts';
import type { PlannedRow } from './planned-write.ts';
import { type Locks, sortedNames } from './resource-locks.ts';
import { type SandboxTables, statement } from './tables.ts';

type Db = Kysely<SandboxTables>;

export interface StoredWrite extends Locks {
  readonly emr: string;
  readonly operationId: string;
  /** The ids of the appointments, in the order of the changes. */
  readonly ids: readonly string[];
  readonly rows: readonly PlannedRow[];
  /** The schedules that the times were checked against. `null`: no time was checked. */
  readonly scheduleVersion: number | null;
  /** The earliest of the times that must not have begun. */
  readonly earliestStart: Date | null;
}

/** Hours of a booking that is made with others. More would need too many locks. */
const mostHours = 2;

/**
 * Makes a write by one statement, which bookings that are made at the same time share. Returns `false` if it was made before.
 *
 * The commit waits for the disk and for a synchronous standby. Otherwise the database could lose the write in a crash or a
 * failover, and the gateway, which has the answer, would end the operation afterwards.
 */
export function storeWrite(db: Db, write: StoredWrite): Promise<boolean> {
  const isBooking = write.rows.length === 1 && write.rows[0]?.read_version === null;
  return isBooking && write.exclusive.length <= mostHours ? bookInGroup(db, write) : writeAlone(db, write);
}

const bookInGroup = grouped({
  async run(db: Db, writes: readonly StoredWrite[]): Promise<readonly boolean[]> {
    const bookings = writes.flatMap(({ operationId, rows }) =>
      rows.map((row) => ({ operation_id: operationId, ...row })),
    );
    await callBookTogether(db, {
      emr: writes[0]?.emr ?? '',
      bookings: JSON.stringify(bookings),
      shared: sortedNames(writes.flatMap(({ shared }) => shared)),
      exclusive: sortedNames(writes.flatMap(({ exclusive }) => exclusive)),
      scheduleVersions: [...new Set(writes.flatMap(({ scheduleVersion }) => scheduleVersion ?? []))],
      earliestStart: earliest(writes.flatMap(({ earliestStart }) => earliestStart ?? [])),
    });
    return writes.map(() => true);
  },
  runAlone: writeAlone,
  keyOf: ({ operationId }: StoredWrite) => operationId,
  isOfOneInput: isOfOneWrite,
});

async function writeAlone(db: Db, { rows: written, ...write }: StoredWrite): Promise<boolean> {
  const { rows } = await callWriteAppointments(db, { ...write, rows: JSON.stringify(written) });
  return rows[0]?.is_new === true;
}

// The functions are in `migrations/`.

const callWriteAppointments = statement(
  (_db, it: Omit<StoredWrite, 'rows'> & { readonly rows: string }) => sql<{ is_new: boolean }>`
    SELECT sandbox.write_appointments(${it.emr}, ${it.operationId}, ${it.ids}, ${it.rows}, ${it.shared}, ${it.exclusive},
      ${it.scheduleVersion}, ${it.earliestStart}) AS is_new`,
);

interface Bookings extends Locks, Pick<StoredWrite, 'emr' | 'earliestStart'> {
  /** JSON text of a list. */
  readonly bookings: string;
  readonly scheduleVersions: readonly number[];
}

const callBookTogether = statement(
  (_db, it: Bookings) => sql`
    SELECT sandbox.book_together(${it.emr}, ${it.bookings}, ${it.shared}, ${it.exclusive}, ${it.scheduleVersions},
      ${it.earliestStart})`,
);

export function earliest(times: readonly Date[]): Date | null {
  return times.length > 0 ? new Date(Math.min(...times.map((time) => time.getTime()))) : null;
}
