import { type RawBuilder, sql } from 'kysely';
import { grouped } from '../db/grouped.ts';
import type { Db, Tx } from '../db/kysely.ts';
import { LeaseLost, leaseEnd, updateLeased } from '../db/operation-lease.ts';
import { statement } from '../db/statement.ts';
import type { Reservation } from './kind.ts';
import type { Leased } from './stored-operation.ts';

export const nothingReserved: Reservation = { lifetimeSeconds: null, patientHashes: [] };

export interface Planned extends Reservation {
  readonly kind: string;
  readonly sealedPlan: Buffer;
  readonly leaseSeconds: number;
}

/** Column values just before the EHR is called. Background recovery takes over when the lease expires. */
function plannedValues({ kind, sealedPlan, leaseSeconds, lifetimeSeconds, patientHashes }: Values<Planned>) {
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
    // Null without a lifetime.
    expires_at: sql<Date | null>`date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${lifetimeSeconds})`,
  };
}

/** Values, or expressions of SQL for them. */
type Values<Input> = { readonly [Name in keyof Input]: Input[Name] | RawBuilder<Input[Name]> };

type PlanInput = Planned & Pick<Leased, 'id' | 'clientId' | 'emr' | 'careUnitId' | 'token'>;

const insertPlan = statement((db, input: PlanInput) =>
  db
    .insertInto('operations')
    .values({
      ...plannedValues(input),
      id: input.id,
      client_id: input.clientId,
      emr: input.emr,
      care_unit_id: input.careUnitId,
      lease_token: input.token,
    })
    .returning('expires_at'),
);

const updatePlan = statement((db, input: PlanInput) =>
  updateLeased(db, input).set(plannedValues(input)).returning('expires_at'),
);

/**
 * Stores the plan in the row of its key or in a new row. Returns when its holds and codes expire.
 *
 * @throws LeaseLost when another request has claimed the key
 */
export async function storePlan(db: Db | Tx, operation: Leased, planned: Planned): Promise<Date | null> {
  const store = operation.keyHash === undefined ? insertPlan : updatePlan;
  const { rows } = await store(db, { ...operation, ...planned });
  const [stored] = rows;
  if (!stored) throw new LeaseLost();
  return stored.expires_at;
}

export const keyLifetime = sql`interval '24 hours'`;

interface ClaimInput extends Pick<Leased, 'id' | 'token' | 'clientId' | 'emr' | 'careUnitId'> {
  readonly keyHash: Buffer;
  readonly requestHash: Buffer;
  /** The hash of the request under each secret key. */
  readonly requestHashes: readonly Buffer[];
  readonly leaseSeconds: number;
}

type PlannedClaim = ClaimInput & Planned;

/** The operation that now has the lease: the new one, or an interrupted one. */
interface Claimed {
  readonly id: string;
  readonly expires_at: Date | null;
}

/** Takes over the lease of an operation that no process runs and that has no response. */
const takeOver = (requestHashes: readonly Buffer[]): RawBuilder<unknown> => sql`
  ON CONFLICT (client_id, idempotency_key_hash) DO UPDATE SET
    lease_token = EXCLUDED.lease_token, lease_expires_at = EXCLUDED.lease_expires_at,
    next_attempt_at = CASE WHEN operations.next_attempt_at IS NOT NULL THEN EXCLUDED.lease_expires_at END
  WHERE operations.sealed_response IS NULL
    AND (operations.request_hash = EXCLUDED.request_hash OR operations.request_hash = ANY(${requestHashes}::bytea[]))
    AND (operations.lease_expires_at IS NULL OR operations.lease_expires_at <= now())
    AND operations.created_at > now() - ${keyLifetime}`;

/** `undefined`: the key is taken. */
export async function claimOnly(db: Db | Tx, input: ClaimInput): Promise<Claimed | undefined> {
  return (await insertClaim(db, input)).rows[0];
}

const insertClaim = statement(
  (_db, input: ClaimInput) => sql<Claimed>`
    INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, lease_token, lease_expires_at)
    SELECT ${input.id}::uuid, ${input.clientId}::text, ${input.keyHash}::bytea, ${input.requestHash}::bytea,
      ${input.emr}::text, ${input.careUnitId}::text, ${input.token}::uuid, ${leaseEnd(input.leaseSeconds)}
    ${takeOver(input.requestHashes)}
    RETURNING operations.id, operations.expires_at`,
);

/** Stores the plan with the key. Requests that run at the same time share a statement. `undefined`: the key is taken. */
export async function claimWithPlan(db: Db, input: PlannedClaim): Promise<Claimed | undefined> {
  const { requestHashes } = input;
  if (requestHashes.length === 1) return claimInGroup(db, input);
  // The statement compares each row with the hash of that row only. This one needs to compare with several.
  const [claimed] = await claimAll(db, [input], requestHashes);
  return claimed;
}

const claimInGroup = grouped({ run: claimAll, keyOf });

async function claimAll(
  db: Db,
  inputs: readonly PlannedClaim[],
  requestHashes: readonly Buffer[] = [],
): Promise<(Claimed | undefined)[]> {
  const { rows } = await insertClaims(db, { claims: JSON.stringify(inputs.map(asJson)), requestHashes });
  const claimed = new Map(rows.map((row) => [keyOf({ clientId: row.client_id, keyHash: row.key_hash }), row]));
  return inputs.map((input) => claimed.get(keyOf(input)));
}

function keyOf({ clientId, keyHash }: Pick<ClaimInput, 'clientId' | 'keyHash'>): string {
  return `${keyHash.toString('base64')} ${clientId}`;
}

function asJson({ keyHash, requestHash, sealedPlan, patientHashes, ...input }: PlannedClaim) {
  return {
    id: input.id,
    client_id: input.clientId,
    key_hash: keyHash.toString('base64'),
    request_hash: requestHash.toString('base64'),
    emr: input.emr,
    care_unit_id: input.careUnitId,
    token: input.token,
    kind: input.kind,
    sealed_plan: sealedPlan.toString('base64'),
    lease_seconds: input.leaseSeconds,
    lifetime_seconds: input.lifetimeSeconds,
    patient_hashes: patientHashes.map((hash) => hash.toString('base64')),
  };
}

interface ClaimsInput {
  /** JSON text of a list. */
  readonly claims: string;
  readonly requestHashes: readonly Buffer[];
}

interface ClaimedRow extends Claimed {
  readonly client_id: string;
  readonly key_hash: Buffer;
}

const insertClaims = statement((_db, { claims, requestHashes }: ClaimsInput) => {
  const columns = Object.entries({
    id: sql`id`,
    client_id: sql`client_id`,
    idempotency_key_hash: sql`decode(key_hash, 'base64')`,
    request_hash: sql`decode(request_hash, 'base64')`,
    emr: sql`emr`,
    care_unit_id: sql`care_unit_id`,
    lease_token: sql`token`,
    ...plannedValues({
      kind: sql`kind`,
      sealedPlan: sql`decode(sealed_plan, 'base64')`,
      leaseSeconds: sql`lease_seconds`,
      lifetimeSeconds: sql`lifetime_seconds`,
      patientHashes: sql`ARRAY(SELECT decode(hash, 'base64') FROM json_array_elements_text(patient_hashes) AS hash)`,
    }),
  });
  return sql<ClaimedRow>`
    INSERT INTO operations (${sql.join(columns.map(([name]) => sql.ref(name)))})
    SELECT ${sql.join(columns.map(([, value]) => value))}
    FROM json_to_recordset(${claims}::json) AS claim (
      id uuid, client_id text, key_hash text, request_hash text, emr text, care_unit_id text, token uuid, kind text,
      sealed_plan text, lease_seconds float8, lifetime_seconds float8, patient_hashes json)
    ${takeOver(requestHashes)}
    RETURNING operations.id, operations.expires_at, operations.client_id, operations.idempotency_key_hash AS key_hash`;
});
