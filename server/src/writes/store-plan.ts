import { type RawBuilder, sql } from 'kysely';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { statement } from '../db/statement.ts';
import { LeaseLost, leaseEnd, updateLeased } from '../db/write-lease.ts';
import { keyLifetime, type Leased, type StoredRow, storedColumns } from './stored-write.ts';
import type { DaysTaken, Reservation } from './write-kind.ts';

/** What is stored of a write before the EHR is called. */
export interface Planned extends Reservation, DaysTaken {
  readonly kind: string | null;
  readonly sealedPlan: Buffer | null;
  readonly leaseSeconds: number;
}

/** The transaction that claims the key also ends the write. */
export const nothingPlanned = {
  kind: null,
  sealedPlan: null,
  lifetimeSeconds: null,
  patientHashes: [],
  takesFrom: null,
  takesUntil: null,
};

type Beginning = Leased & Planned;

/** Column values just before the EHR is called. Background recovery takes over when the lease expires. */
function plannedValues({ kind, sealedPlan, leaseSeconds, lifetimeSeconds, patientHashes, ...taken }: Values<Planned>) {
  return {
    kind,
    state: 'pending' as const,
    sealed_plan: sealedPlan,
    lease_expires_at: leaseEnd(leaseSeconds),
    next_attempt_at: leaseEnd(leaseSeconds),
    first_sent_at: sql<Date>`now()`,
    last_sent_at: sql<Date>`now()`,
    reported_unknown: false,
    consecutive_failures: 0,
    patient_hashes: patientHashes,
    takes_from: taken.takesFrom,
    takes_until: taken.takesUntil,
    // Null without a lifetime.
    expires_at: sql<Date | null>`date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds})`,
  };
}

/** Values, or expressions of SQL for them. */
type Values<Input> = { readonly [Name in keyof Input]: Input[Name] | RawBuilder<Input[Name]> };

const updatePlan = statement((db, input: Beginning) =>
  updateLeased(db, input).set(plannedValues(input)).returning('expires_at as expiresAt'),
);

/** Stores the plan of a write without a key, or that starts over. Returns when its holds and codes expire. @throws LeaseLost */
export async function storePlan(db: Db | Tx, input: Beginning): Promise<Date | null> {
  const stored = input.keyHash ? (await updatePlan(db, input)).rows[0] : await insertWrite(db, input);
  if (!stored) throw new LeaseLost();
  return stored.expiresAt;
}

/**
 * Stores a write with its plan, and claims its key. Requests that run at the same time share a statement. Returns the write that
 * now has the lease: the new one, or an interrupted one with its key. `undefined`: the key is taken.
 */
export const insertWrite = grouped({
  begins: 'INSERT INTO operations',
  run: insertAll,
  keyOf: ({ id, clientId, keyHash }: Beginning) => (keyHash ? `${keyHash.toString('base64')} ${clientId}` : id),
});

async function insertAll(db: Db | Tx, inputs: readonly Beginning[]): Promise<(StoredRow | undefined)[]> {
  const { rows } = await insertRows(db, { writes: JSON.stringify(inputs.map(asJson)) });
  const inserted = new Map(rows.map((row) => [row.token, row]));
  return inputs.map(({ token }) => inserted.get(token));
}

function asJson({ keyHash, claims, sealedPlan, patientHashes, ...input }: Beginning) {
  return {
    id: input.id,
    client_id: input.clientId,
    key_hash: keyHash?.toString('base64'),
    request_hashes: (claims?.requestHashes ?? []).map((hash) => hash.toString('base64')),
    emr: input.emr,
    care_unit_id: input.careUnitId,
    token: input.token,
    kind: input.kind,
    sealed_plan: sealedPlan?.toString('base64'),
    lease_seconds: input.leaseSeconds,
    lifetime_seconds: input.lifetimeSeconds,
    patient_hashes: patientHashes.map((hash) => hash.toString('base64')),
    takes_from: input.takesFrom,
    takes_until: input.takesUntil,
  };
}

/**
 * Takes over the lease of a write that no process works on and that has no response.
 *
 * `writes`: JSON text of a list.
 */
const insertRows = statement((_db, { writes }: { readonly writes: string }) => {
  const columns = Object.entries({
    id: sql`id`,
    client_id: sql`client_id`,
    idempotency_key_hash: sql`decode(key_hash, 'base64')`,
    request_hash: sql`decode(request_hashes ->> 0, 'base64')`,
    emr: sql`emr`,
    care_unit_id: sql`care_unit_id`,
    lease_token: sql`token`,
    ...plannedValues({
      kind: sql`kind`,
      sealedPlan: sql`decode(sealed_plan, 'base64')`,
      leaseSeconds: sql`lease_seconds`,
      lifetimeSeconds: sql`lifetime_seconds`,
      patientHashes: sql`ARRAY(SELECT decode(hash, 'base64') FROM json_array_elements_text(patient_hashes) AS hash)`,
      takesFrom: sql`takes_from`,
      takesUntil: sql`takes_until`,
    }),
  });
  return sql<StoredRow>`
    WITH planned AS (
      SELECT * FROM json_to_recordset(${writes}::json) AS planned (
        id uuid, client_id text, key_hash text, request_hashes json, emr text, care_unit_id text, token uuid, kind text,
        sealed_plan text, lease_seconds float8, lifetime_seconds float8, patient_hashes json, takes_from date,
        takes_until date))
    INSERT INTO operations (${sql.join(columns.map(([name]) => sql.ref(name)))})
    SELECT ${sql.join(columns.map(([, value]) => value))}
    FROM planned
    ON CONFLICT (client_id, idempotency_key_hash) DO UPDATE SET
      lease_token = EXCLUDED.lease_token, lease_expires_at = EXCLUDED.lease_expires_at,
      next_attempt_at = CASE WHEN operations.next_attempt_at IS NOT NULL THEN EXCLUDED.lease_expires_at END
    WHERE operations.sealed_response IS NULL
      AND operations.request_hash IN (
        SELECT decode(hash, 'base64') FROM planned, json_array_elements_text(planned.request_hashes) AS hash
        WHERE planned.token = EXCLUDED.lease_token)
      AND (operations.lease_expires_at IS NULL OR operations.lease_expires_at <= now())
      AND operations.created_at > now() - ${keyLifetime}
    RETURNING ${storedColumns}`;
});
