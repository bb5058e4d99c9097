import { sql } from 'kysely';
import type { Tx } from '../../db/kysely.ts';
import { Problem } from '../../problems/problem.ts';
import type { Work } from '../../writes/write-kind.ts';
import { moveIdentifiers } from '../identified/store.ts';
import type { Results } from '../write/changes.ts';
import type { AppointmentPlan } from '../write/plan.ts';
import { movesOf, successorOf } from './moves.ts';

/**
 * Stores which appointments supersede which, for good. A cancellation of the former one that awaits a code is now about the
 * new one.
 *
 * @throws Problem `appointment_cancelled` if another move has superseded the former appointment meanwhile
 */
export async function recordMoves(tx: Tx, { ehr }: Work, plan: AppointmentPlan, results: Results): Promise<void> {
  for (const move of movesOf(plan)) {
    const next = successorOf(move, results);
    if (!next) continue;
    const { formerId, supersedesId } = move;
    const { rows } = await sql<{ appointment_id: string }>`
      INSERT INTO moved_appointments (emr, appointment_id, former_id, supersedes_id)
      VALUES (${ehr.id}, ${next.id}, ${formerId}, ${supersedesId})
      ON CONFLICT (emr, former_id) DO UPDATE SET appointment_id = moved_appointments.appointment_id
      RETURNING appointment_id`.execute(tx);
    if (rows[0]?.appointment_id !== next.id) throw new Problem('appointment_cancelled');
    await sql`
      UPDATE confirmation_items SET ehr_appointment_id = ${next.id}, replaces_id = ${next.id}
      WHERE emr = ${ehr.id} AND kind = 'cancellation' AND ehr_appointment_id = ${formerId}`.execute(tx);
    await moveIdentifiers(tx, ehr.id, supersedesId, next.id);
  }
}
