import { sql } from 'kysely';
import type { Db, Tx } from '../../db/kysely.ts';

export type OperatorAction =
  | 'sign_in'
  | 'sign_in_link'
  | 'sign_out'
  | 'password_change'
  | 'codes_change'
  | 'sessions_end'
  | 'operation_retry'
  | 'operation_drop'
  | 'message_send_again'
  | 'message_send_now'
  | 'connection_check'
  | 'emr_add'
  | 'emr_change'
  | 'emr_open'
  | 'emr_remove'
  | 'emr_try_search'
  | 'emr_try_booking'
  | 'emr_conformance'
  | 'emr_changes_note'
  | 'emr_pause'
  | 'emr_resume'
  | 'audit_search'
  | 'audit_export'
  | 'patient_erase'
  | 'account_create'
  | 'account_role'
  | 'account_reset'
  | 'account_disable'
  | 'webhook_create'
  | 'webhook_change'
  | 'webhook_secret_rotate'
  | 'webhook_accept'
  | 'webhook_enable'
  | 'webhook_disable'
  | 'webhook_delete'
  | 'webhook_test'
  | 'webhook_redeliver'
  | 'webhook_replay'
  | 'client_create'
  | 'client_update'
  | 'client_rotate'
  | 'client_revoke'
  | 'client_accept';

/**
 * - `done`
 * - `rejected`: incorrect credentials, or no role
 * - `not_possible`: the target has changed meanwhile, or does not exist
 * - `problem`: the check found a problem
 * - `begun`: it works in the EHR, and another entry tells its end
 */
type Outcome = 'begun' | 'done' | 'rejected' | 'not_possible' | 'problem';

/** The operator of sign-ins with a name that no account has: that name is not stored. No account can have this one. */
export const unknownName = 'unknown name';

/** What an operator did. Contains no data of patients. */
export interface Activity {
  readonly operator: string;
  readonly action: OperatorAction;
  /**
   * The id of an operation, a message (or the channel of messages, or `all` of them), an EHR, a client or a webhook endpoint; the name of an account, with its new role
   * if the role changes; the name of an operator whose sessions end; or the address that a sign-in came from.
   */
  readonly target?: string | undefined;
  readonly outcome: Outcome;
}

export interface RecordedActivity extends Activity {
  readonly id: string;
  readonly at: Date;
}

/** Records an action, if possible in the transaction that performs it. */
export async function recordActivity(db: Db, { operator, action, target, outcome }: Activity): Promise<void> {
  await db
    .insertInto('operator_activity')
    .values({ operator_name: operator, action, target: target ?? null, outcome })
    .execute();
}

/** Whether it was done within the last day, in a transaction that has committed. */
export async function wasDone(tx: Tx, action: OperatorAction, target: string): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM operator_activity
    WHERE at > now() - interval '1 day' AND action = ${action} AND target = ${target} AND outcome = 'done'
    LIMIT 1`.execute(tx);
  return rows.length > 0;
}

/** Lists actions, the newest first. `before`: id of the last one on the previous page. */
export async function listActivity(db: Db, limit: number, before?: string): Promise<RecordedActivity[]> {
  const { rows } = await sql<RecordedActivity>`
    SELECT id::text, at, operator_name AS operator, action, target, outcome FROM operator_activity
    WHERE ${before ?? null}::bigint IS NULL OR id < ${before ?? null}::bigint
    ORDER BY operator_activity.id DESC LIMIT ${limit}`.execute(db);
  return rows;
}

/** Counts the sign-ins that were rejected in the last hour. */
export async function countRejectedSignIns(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM operator_activity
    WHERE at > now() - interval '1 hour' AND action = 'sign_in' AND outcome = 'rejected'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The EHRs where a try of a booking has begun, and its gateway did not say how it ended. Of the last 30 days. */
export async function interruptedTries(db: Db): Promise<readonly { readonly emr: string; readonly since: Date }[]> {
  const { rows } = await sql<{ emr: string; since: Date }>`
    SELECT emr, since FROM (
      SELECT DISTINCT ON (target) target AS emr, at AS since, outcome FROM operator_activity
      WHERE at > now() - interval '30 days' AND action = 'emr_try_booking'
      ORDER BY target, operator_activity.id DESC) AS last
    WHERE outcome = 'begun' AND since < now() - interval '2 minutes' ORDER BY emr`.execute(db);
  return rows;
}
