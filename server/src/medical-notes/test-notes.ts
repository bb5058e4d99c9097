import { randomBytes, randomUUID } from 'node:crypto';
import type { MedicalNote, MedicalNoteOperations, MedicalNoteWrite } from '@crossward/connector-kit';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createTestDatabase } from '../../../test/database/database.ts';
import { createAuditKey } from '../audit/audit-keys.ts';
import { newDraft } from '../audit/drafts.ts';
import { recoverDue } from '../background/recover-due.ts';
import type { AuditedAccess } from '../context/work-context.ts';
import type { Database } from '../db/database.ts';
import { createDb, type Db } from '../db/kysely.ts';
import type { CareUnitConnection, EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { createWriteMetrics } from '../writes/metrics.ts';
import { write } from '../writes/write.ts';
import type { WriteResponse, WriteServices } from '../writes/write-kind.ts';
import { type AnyKind, type Decide, plannedWrite } from '../writes/write-kind.ts';
import { medicalNoteKind } from './kind.ts';

/* The writes engine with an EHR that accepts medical notes, without HTTP and without background loops. */

type NoteCall = (operation: keyof MedicalNoteOperations, ...input: unknown[]) => Promise<unknown>;

/** Decides what happens to a write. The EHR performs it when `write` is called. */
type Fate = (write: () => MedicalNote) => Promise<MedicalNote>;

interface NotesEhr {
  /** By operation id. */
  readonly notes: Map<string, MedicalNote>;
  /** Operation ids of the `createMedicalNote` calls, in order. */
  readonly writes: readonly string[];
  /** Fates of the next writes, in order. Later writes succeed. */
  readonly fates: Fate[];
  /** Operation ids of notes that staff have changed. */
  readonly changed: Set<string>;
  /** Whether every call fails with `ehr_unavailable`. */
  isUnavailable: boolean;
}

function notesEhr(): NotesEhr & { readonly call: NoteCall } {
  const notes = new Map<string, MedicalNote>();
  const writes: string[] = [];
  const fates: Fate[] = [];
  const changed = new Set<string>();
  const create = ({ operationId, patientId, authorId, title, text, appointmentId }: MedicalNoteWrite) => {
    writes.push(operationId);
    const content = { patientId, createdAt: new Date(), authorId, title, text, appointmentId };
    const write = () => {
      const note = notes.get(operationId) ?? { id: `note-${notes.size + 1}`, ...content };
      notes.set(operationId, note);
      return note;
    };
    return (fates.shift() ?? (async (it) => it()))(write);
  };
  const ehr: NotesEhr & { readonly call: NoteCall } = {
    notes,
    writes,
    fates,
    changed,
    isUnavailable: false,
    async call(operation, ...input) {
      if (ehr.isUnavailable) throw new Problem('ehr_unavailable');
      if (operation === 'createMedicalNote') return create(input[0] as MedicalNoteWrite);
      const id = String(input[1]);
      if (operation === 'findMedicalNoteWrite') return notes.get(id) ?? null;
      if (operation !== 'withdrawMedicalNote') throw new Error(`No test needs ${operation}`);
      if (changed.has(id)) return 'changed';
      notes.delete(id);
      return 'withdrawn';
    },
  };
  return ehr;
}

const auditKey = createAuditKey(randomUUID(), randomBytes(32));

const careUnit = {
  id: 'ward',
  timeZone: 'Europe/Oslo',
  code: { length: 6, lifetimeSeconds: 600, attempts: 5 },
} as CareUnitConnection;

const plan = {
  requestedAt: new Date(),
  patientId: 'p-1',
  authorId: null,
  title: null,
  appointmentId: null,
  callersAppointmentId: null,
};

export interface Notes {
  readonly db: Db;
  readonly services: WriteServices;
  readonly ehr: NotesEhr;
  readonly connection: EhrConnection;
  /** What background jobs have recorded in the audit trail. */
  readonly accesses: readonly AuditedAccess[];
  /** Writes a note like a request does. */
  write(
    text: string,
    options?: { readonly key?: string | undefined; readonly decide?: Decide; readonly begin?: () => Promise<void> },
  ): Promise<WriteResponse>;
  /** Runs one round of background recovery. Returns how many writes were due. */
  round(): Promise<number>;
  /** Expires all leases, as if their process had been killed. */
  expireLeases(): Promise<void>;
  /** The stored writes. */
  rows(): Promise<{ state: string; isPlanned: boolean; hasResponse: boolean; isLeased: boolean }[]>;
  close(): Promise<void>;
}

export async function startNotes(databaseKind?: Database['kind']): Promise<Notes> {
  const { database, dispose } = await createTestDatabase(databaseKind);
  const db = createDb(database);
  const log = pino({ level: 'silent' });
  const accesses: AuditedAccess[] = [];
  const ehr = notesEhr();
  const connection = {
    id: 'notes',
    careUnits: new Map([[careUnit.id, careUnit]]),
    times: { callSeconds: 60, settlingSeconds: 0, giveUpSeconds: 600 },
    changesSeconds: 0,
    offers: (operation: string) => operation !== 'settleChanges',
    call: ehr.call,
  } as unknown as EhrConnection;
  const services = {
    db,
    keys: createKeyRing([randomBytes(32)]),
    ehrs: new Map([[connection.id, connection]]),
    kinds: new Map([[medicalNoteKind.name, medicalNoteKind as AnyKind]]),
    writeMetrics: createWriteMetrics(new Registry(), log),
    liveTokens: new Set(),
    audit: {
      record: async (access: AuditedAccess) => void accesses.push(access),
      draft(access: AuditedAccess) {
        accesses.push(access);
        return newDraft(auditKey, randomUUID(), access);
      },
    },
  } as unknown as WriteServices;
  return {
    db,
    services,
    ehr,
    connection,
    accesses,
    write(text, { key, decide, begin = async () => undefined } = {}) {
      const keyed = key === undefined ? undefined : { key, fingerprints: [text] as const };
      return write(services, {
        clientId: 'clinic',
        ehr: connection,
        careUnit,
        requestId: 'request',
        keyed,
        plan: async () => plannedWrite(medicalNoteKind, { ...plan, text }, decide),
        begin,
      });
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
