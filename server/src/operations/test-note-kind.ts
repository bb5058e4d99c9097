import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestDatabase } from '../../../test/database.ts';
import type { Database } from '../db/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { PartiallyApplied } from './errors.ts';
import type { Decide } from './execute.ts';
import type { AnyKind, OperationKind, Work } from './kind.ts';
import { createOperationMetrics } from './metrics.ts';
import type { OperationResponse } from './operation-response.ts';
import { recoverDue } from './recover-due.ts';
import { runOnce } from './run-once.ts';
import type { OperationServices } from './services.ts';

/*
 * A kind of write that exists only in tests: a medical note, written by one call and never compensated. It shows that the
 * operations engine does not depend on a particular kind.
 */

interface NotePlan {
  readonly text: string;
}
interface Note extends NotePlan {
  readonly id: string;
}
type NoteCall = (operation: 'writeNote' | 'findNote', id: string, text?: string) => Promise<Note | null>;

/** The connector interface has no notes. */
const ask = ({ call }: Work) => call as unknown as NoteCall;

const noteKind: OperationKind<NotePlan, Note> = {
  name: 'medical_note',
  callsEhr: () => true,
  codesFor: () => [],
  findsOperations: (ehr) => ehr.offers('findOperation'),
  async perform(work, { text }) {
    const note = await ask(work)('writeNote', work.ehrId(), text);
    if (!note) throw new Error('The EHR returned no note');
    return note;
  },
  async lookUp(work) {
    const outcome = await ask(work)('findNote', work.ehrId());
    return outcome ? { outcome } : 'nothing';
  },
  async compensate(work) {
    if (await ask(work)('findNote', work.ehrId())) throw new PartiallyApplied([]);
  },
  hasRecords: () => false,
  respond: (_work, _plan, note) => ({ status: 201, body: note }),
  async record() {
    throw new Error('A note has no records');
  },
  releaseReservations: async () => undefined,
};

/** Decides what happens to a write. The EHR performs it when `write` is called. */
type Fate = (write: () => Note) => Promise<Note>;

interface NotesEhr {
  /** By operation id. */
  readonly notes: ReadonlyMap<string, Note>;
  /** Operation ids of the `writeNote` calls, in order. */
  readonly writes: readonly string[];
  /** Fates of the next writes, in order. Later writes succeed. */
  readonly fates: Fate[];
}

function notesEhr(): NotesEhr & { readonly call: NoteCall } {
  const notes = new Map<string, Note>();
  const writes: string[] = [];
  const fates: Fate[] = [];
  return {
    notes,
    writes,
    fates,
    async call(operation, id, text) {
      if (operation === 'findNote') return notes.get(id) ?? null;
      writes.push(id);
      const write = () => {
        const note = notes.get(id) ?? { id: `note-${notes.size + 1}`, text: text ?? '' };
        notes.set(id, note);
        return note;
      };
      return (fates.shift() ?? (async (it) => it()))(write);
    },
  };
}

const careUnit = { id: 'ward', code: { length: 6, lifetimeSeconds: 600, attempts: 5 } } as CareUnitConnection;

export interface Notes {
  readonly db: Db;
  readonly services: OperationServices;
  readonly ehr: NotesEhr;
  readonly connection: EhrConnection;
  /** Writes a note like a request does. */
  write(
    text: string,
    options?: { readonly key?: string | undefined; readonly decide?: Decide },
  ): Promise<OperationResponse>;
  /** Runs one round of background recovery. Returns how many operations were due. */
  round(): Promise<number>;
  /** Expires all leases, as if their process had been killed. */
  expireLeases(): Promise<void>;
  /** The stored operations. */
  rows(): Promise<{ state: string; isPlanned: boolean; hasResponse: boolean; isLeased: boolean }[]>;
  close(): Promise<void>;
}

/** Starts the operations engine with an EHR that accepts notes, without background loops. */
export async function startNotes(databaseKind?: Database['kind']): Promise<Notes> {
  const { database, dispose } = await createTestDatabase(databaseKind);
  const db = createDb(database);
  const log = pino({ level: 'silent' });
  const ehr = notesEhr();
  const connection = {
    id: 'notes',
    careUnits: new Map([[careUnit.id, careUnit]]),
    patience: { callSeconds: 60, settlingSeconds: 0, giveUpSeconds: 600 },
    offers: (operation: string) => operation === 'findOperation',
    call: ehr.call,
  } as unknown as EhrConnection;
  const services = {
    db,
    keys: createKeyRing([randomBytes(32)]),
    ehrs: new Map([[connection.id, connection]]),
    kinds: new Map([[noteKind.name, noteKind as AnyKind]]),
    operationMetrics: createOperationMetrics(new Registry(), log),
  } as unknown as OperationServices;
  return {
    db,
    services,
    ehr,
    connection,
    write(text, { key, decide } = {}) {
      const keyed = key === undefined ? undefined : { key, fingerprint: text };
      const request = { clientId: 'clinic', ehr: connection, careUnit, requestId: 'request', keyed };
      return runOnce(services, request, (execute) => execute(noteKind, { text }, decide));
    },
    round: () => recoverDue(services, connection, log),
    async expireLeases() {
      await sql`
        UPDATE operations SET lease_expires_at = now(),
          next_attempt_at = CASE WHEN next_attempt_at IS NOT NULL THEN now() END`.execute(db);
    },
    async rows() {
      const { rows } = await sql<{ state: string; isPlanned: boolean; hasResponse: boolean; isLeased: boolean }>`
        SELECT state, sealed_plan IS NOT NULL AS "isPlanned", sealed_response IS NOT NULL AS "hasResponse",
          lease_expires_at IS NOT NULL AS "isLeased" FROM operations ORDER BY created_at`.execute(db);
      return rows;
    },
    close: dispose,
  };
}
