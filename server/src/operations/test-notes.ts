import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestDatabase } from '../../../test/database.ts';
import type { Database } from '../db/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import type { Answer } from './answer.ts';
import { PartiallyApplied } from './errors.ts';
import type { Decide } from './execute.ts';
import type { AnyKind, OperationKind, Work } from './kind.ts';
import { createOperationMetrics } from './metrics.ts';
import { answerOnce } from './once.ts';
import { recoverDue } from './recover-due.ts';
import type { OperationServices } from './services.ts';

/*
 * A kind of write that the gateway does not have: a medical note, which one call writes and nobody takes back. It stands
 * here alone, so that the tests see that operations are about nothing in particular.
 */

interface NotePlan {
  readonly text: string;
}
interface Note extends NotePlan {
  readonly id: string;
}
type NoteCall = (operation: 'writeNote' | 'findNote', id: string, text?: string) => Promise<Note | null>;

/** The port of the EHRs has no notes. */
const ask = ({ call }: Work) => call as unknown as NoteCall;

const noteKind: OperationKind<NotePlan, Note> = {
  name: 'medical_note',
  asksEhr: () => true,
  codesFor: () => [],
  async perform(work, { text }) {
    const note = await ask(work)('writeNote', work.ehrId(), text);
    if (!note) throw new Error('No note was answered');
    return note;
  },
  async lookUp(work) {
    const outcome = await ask(work)('findNote', work.ehrId());
    return outcome ? { outcome } : 'nothing';
  },
  async undo(work) {
    if (await ask(work)('findNote', work.ehrId())) throw new PartiallyApplied([]);
  },
  remembers: () => false,
  answer: (_work, _plan, note) => ({ status: 201, body: note }),
  async record() {
    throw new Error('The gateway has nothing to remember of a note');
  },
  letGo: async () => undefined,
};

/** What happens to a write: it is done when `write` is called. */
type Fate = (write: () => Note) => Promise<Note>;

interface NotesEhr {
  /** By the operation that has written them. */
  readonly notes: ReadonlyMap<string, Note>;
  /** The operation of each `writeNote`, in their order. */
  readonly writes: readonly string[];
  /** What happens to the next writes, in their order. The others are done. */
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
  /** Writes a note as a request would. */
  write(text: string, options?: { readonly key?: string | undefined; readonly decide?: Decide }): Promise<Answer>;
  /** One round of background work. Answers how many operations were due. */
  round(): Promise<number>;
  /** As if the process had been killed that is at it: its lease has run out. */
  leasesRunOut(): Promise<void>;
  /** What is kept of operations. */
  rows(): Promise<{ state: string; isPlanned: boolean; isAnswered: boolean; isLeased: boolean }[]>;
  close(): Promise<void>;
}

/** What operations need, with an EHR that takes notes, and nothing that runs by itself. */
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
      return answerOnce(services, request, (execute) => execute(noteKind, { text }, decide));
    },
    round: () => recoverDue(services, connection, log),
    async leasesRunOut() {
      await sql`
        UPDATE operations SET lease_expires_at = now(),
          next_attempt_at = CASE WHEN next_attempt_at IS NOT NULL THEN now() END`.execute(db);
    },
    async rows() {
      const { rows } = await sql<{ state: string; isPlanned: boolean; isAnswered: boolean; isLeased: boolean }>`
        SELECT state, sealed_plan IS NOT NULL AS "isPlanned", sealed_response IS NOT NULL AS "isAnswered",
          lease_expires_at IS NOT NULL AS "isLeased" FROM operations ORDER BY created_at`.execute(db);
      return rows;
    },
    close: dispose,
  };
}
