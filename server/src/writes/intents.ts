import { sql } from 'kysely';
import type { Db, Tx } from '../db/kysely.ts';
import { Problem } from '../problems/problem.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { type GatewayProcess, ownerIsAlive } from './gateway-process.ts';
import { planFromText, type WritePlan } from './plan.ts';

/** How long a write that the EHR shows nothing of is looked for, from the first look on. */
const patience = sql`interval '2 minutes'`;

/** Whose write it is, and where its answer belongs. */
export interface Intent {
  readonly operationId: string;
  readonly clientId: string;
  readonly emr: string;
  readonly careUnitId: string;
  readonly keyHash: Buffer | undefined;
}

export interface StoredIntent extends Intent {
  readonly plan: WritePlan;
  readonly expiresAt: Date | null;
  readonly hasRunOut: boolean;
  /** The caller has been told that the outcome is not known. */
  readonly isTold: boolean;
  /** A change failed, and those before it were being undone. */
  readonly isBeingUndone: boolean;
}

/** Stores what is about to be done. Answers when the holds and codes that it makes will run out. */
export async function storeIntent(
  db: Db | Tx,
  keys: KeyRing,
  process: GatewayProcess,
  intent: Intent,
  plan: WritePlan,
  limits: { readonly lifetimeSeconds: number | undefined; readonly patientHashes: readonly Buffer[] },
): Promise<Date | null> {
  const { expires_at } = await db
    .insertInto('writes')
    .values({
      operation_id: intent.operationId,
      client_id: intent.clientId,
      emr: intent.emr,
      care_unit_id: intent.careUnitId,
      sealed_plan: keys.seal('write', JSON.stringify(plan), context(intent)),
      key_hash: intent.keyHash ?? null,
      patient_hashes: [...limits.patientHashes],
      expires_at:
        limits.lifetimeSeconds === undefined
          ? null
          : sql<Date>`date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${limits.lifetimeSeconds})`,
      owner: process.id,
    })
    .returning('expires_at')
    .executeTakeFirstOrThrow();
  return expires_at;
}

/**
 * Ends a write that is ours.
 *
 * @throws Problem `idempotency_in_progress` when another process has taken it over, and nothing may be told in its name
 */
export async function endIntent(tx: Db | Tx, process: GatewayProcess, operationId: string): Promise<void> {
  const { numDeletedRows } = await tx
    .deleteFrom('writes')
    .where('operation_id', '=', operationId)
    .where('owner', '=', process.id)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new Problem('idempotency_in_progress');
}

/** The caller has been told that nobody knows whether it was done. What is being undone is undone, whoever was told. */
export async function markUnknown(db: Db, process: GatewayProcess, operationId: string): Promise<void> {
  await db
    .updateTable('writes')
    .set({ state: 'unknown' })
    .where('operation_id', '=', operationId)
    .where('owner', '=', process.id)
    .where('state', '=', 'running')
    .execute();
}

/**
 * What the EHR has done of it is going to be undone: whoever goes on with it must not do it again.
 *
 * @throws Problem `idempotency_in_progress` when another process has taken it over
 */
export async function markUndoing(db: Db, process: GatewayProcess, operationId: string): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('writes')
    .set({ state: 'undoing' })
    .where('operation_id', '=', operationId)
    .where('owner', '=', process.id)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new Problem('idempotency_in_progress');
}

/** The EHR shows nothing of the write. `true`: it has been looked for long enough. */
export async function noteMissing(db: Db, process: GatewayProcess, operationId: string): Promise<boolean> {
  const row = await db
    .updateTable('writes')
    .set({ missing_since: sql<Date>`coalesce(missing_since, clock_timestamp())` })
    .where('operation_id', '=', operationId)
    .where('owner', '=', process.id)
    .returning(sql<boolean>`missing_since <= clock_timestamp() - ${patience}`.as('is_lost'))
    .executeTakeFirst();
  return row?.is_lost ?? false;
}

/** The plans of all other writes that are under way there. `undefined`: one that cannot be opened. */
export async function otherPlans(
  db: Db | Tx,
  keys: KeyRing,
  { emr, careUnitId, operationId }: Pick<Intent, 'emr' | 'careUnitId' | 'operationId'>,
): Promise<readonly (WritePlan | undefined)[]> {
  const rows = await db
    .selectFrom('writes')
    .select(['operation_id', 'client_id', 'sealed_plan'])
    .where('emr', '=', emr)
    .where('care_unit_id', '=', careUnitId)
    .where('operation_id', '<>', operationId)
    .execute();
  return rows.map((row) => {
    const text = keys.open(
      'write',
      row.sealed_plan,
      context({ operationId: row.operation_id, clientId: row.client_id }),
    );
    return text === undefined ? undefined : planFromText(text);
  });
}

/**
 * Takes over a write of a process that died, or of our own, for a request that has made the operation its own in this
 * process. `undefined`: there is none. `'busy'`: another process is at work on it.
 */
export async function claimIntent(
  db: Db,
  keys: KeyRing,
  process: GatewayProcess,
  operationId: string,
): Promise<StoredIntent | 'busy' | undefined> {
  const [claimed] = await claim(db, process, 1, { operationId });
  if (claimed) return openIntent(keys, claimed);
  const left = await db.selectFrom('writes').select('operation_id').where('operation_id', '=', operationId).execute();
  return left.length > 0 ? 'busy' : undefined;
}

/**
 * Takes over writes of processes that died, and those that a request of ours could not bring to an end. They are active
 * in this process from here on, until whoever works on them says otherwise.
 */
export async function claimAbandoned(db: Db, process: GatewayProcess, limit: number): Promise<ClaimedIntent[]> {
  const claimed = await claim(db, process, limit, { but: [...process.active] });
  // A retry may have made one its own in the meantime.
  const ours = claimed.filter((row) => !process.active.has(row.operation_id));
  for (const { operation_id } of ours) process.active.add(operation_id);
  return ours;
}

async function claim(
  db: Db,
  process: GatewayProcess,
  limit: number,
  { operationId, but = [] }: { readonly operationId?: string; readonly but?: readonly string[] },
) {
  return db
    .with('abandoned', (cte) =>
      cte
        .selectFrom('writes')
        .select(['operation_id', sql<boolean>`owner = ${process.id}`.as('was_ours')])
        .where((where) => where.or([where('owner', '=', process.id), where.not(ownerIsAlive)]))
        .$if(operationId !== undefined, (query) => query.where('operation_id', '=', operationId ?? ''))
        .$if(but.length > 0, (query) => query.where('operation_id', 'not in', [...but]))
        // Those that cannot be ended must not keep the others waiting.
        .orderBy(sql`random()`)
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .updateTable('writes')
    .from('abandoned')
    .whereRef('writes.operation_id', '=', 'abandoned.operation_id')
    .set({ owner: process.id })
    .returning([
      'writes.operation_id',
      'client_id',
      'emr',
      'care_unit_id',
      'sealed_plan',
      'key_hash',
      'expires_at',
      'state',
      'was_ours',
    ])
    .returning(sql<boolean>`coalesce(expires_at <= clock_timestamp(), false)`.as('has_run_out'))
    .execute();
}

export type ClaimedIntent = Awaited<ReturnType<typeof claim>>[number];

/** @throws Error when the secret key that the plan was sealed with is not known */
export function openIntent(keys: KeyRing, row: ClaimedIntent): StoredIntent {
  const intent: Intent = {
    operationId: row.operation_id,
    clientId: row.client_id,
    emr: row.emr,
    careUnitId: row.care_unit_id,
    keyHash: row.key_hash ?? undefined,
  };
  const plan = keys.open('write', row.sealed_plan, context(intent));
  if (plan === undefined) throw new Error('A stored write cannot be opened: its secret key is not known');
  return {
    ...intent,
    plan: planFromText(plan),
    expiresAt: row.expires_at,
    hasRunOut: row.has_run_out,
    isTold: row.state === 'unknown' || row.was_ours,
    isBeingUndone: row.state === 'undoing',
  };
}

function context(intent: Pick<Intent, 'operationId' | 'clientId'>): string {
  return `write ${intent.clientId} ${intent.operationId}`;
}
