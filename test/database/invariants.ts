import type { Database } from '../../server/src/db/database.ts';

/** A condition on `appointment`: one of its events has this type. Callers know a confirmed draft by the id of the draft. */
const hasEvent = (type: string) => `(
  EXISTS (SELECT FROM events WHERE emr = appointment.emr AND subject = appointment.id AND type = '${type}')
  OR EXISTS (
    SELECT FROM confirmation_items AS item JOIN events ON events.emr = item.emr AND subject = item.appointment_id
    WHERE item.emr = appointment.emr AND item.ehr_appointment_id = appointment.id AND item.kind = 'booking'
      AND type = '${type}'))`;

/** Queries for violated invariants of an idle database. Each row is a violation. */
const violations: Readonly<Record<string, string>> = {
  'appointments overlap': `
    SELECT a.emr, a.id, b.id AS other FROM sandbox.appointments a JOIN sandbox.appointments b
      ON a.emr = b.emr AND a.resource_id = b.resource_id AND a.id < b.id
      AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at
    WHERE a.state <> 'cancelled' AND b.state <> 'cancelled'`,
  'an operation is unfinished': `SELECT id, state, last_failure FROM operations WHERE state <> 'done' AND sealed_plan IS NOT NULL`,
  'a confirmation is unfinished': `SELECT appointment_id FROM confirmation_items WHERE state = 'confirming'`,
  'an expiry is unfinished': `SELECT appointment_id FROM confirmation_items WHERE state = 'expiring'`,
  'a hold has no pending code': `
    SELECT emr, id FROM sandbox.appointments AS held WHERE state = 'held' AND held_until > clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM confirmation_items AS item
        WHERE item.emr = held.emr AND item.ehr_appointment_id = held.id AND item.state = 'pending')`,
  'a booking code is pending without a hold': `
    SELECT item.appointment_id FROM confirmation_items AS item
      JOIN confirmations AS confirmation ON confirmation.id = item.confirmation_id
      JOIN sandbox.appointments AS appointment
        ON appointment.emr = item.emr AND appointment.id = item.ehr_appointment_id
    WHERE item.kind = 'booking' AND item.state = 'pending' AND confirmation.expires_at > clock_timestamp()
      AND appointment.state <> 'held'`,
  'a confirmed change is not made in the EHR': `
    SELECT item.appointment_id FROM confirmation_items AS item JOIN sandbox.appointments AS appointment
      ON appointment.emr = item.emr AND appointment.id = item.ehr_appointment_id
    WHERE item.state = 'confirmed'
      AND (appointment.state = 'held' OR (item.kind = 'cancellation' AND appointment.state <> 'cancelled'))`,
  'the number of messages differs from the number of codes sent': `
    SELECT confirmation.id, codes_sent, count(messages.id) AS messages FROM confirmations AS confirmation
      LEFT JOIN messages ON messages.confirmation_id = confirmation.id
    GROUP BY confirmation.id HAVING count(messages.id) <> codes_sent`,
  'a message is queued': `SELECT id FROM messages WHERE state = 'queued'`,
  'a sent message is not in the mailbox': `
    SELECT messages.id FROM messages LEFT JOIN demo_mailbox ON demo_mailbox.id = messages.id
    WHERE messages.state = 'sent' AND demo_mailbox.id IS NULL`,
  'a message has failed': `SELECT id FROM messages WHERE state = 'failed'`,
  'an appointment has two pending cancellations': `
    SELECT emr, ehr_appointment_id FROM confirmation_items WHERE kind = 'cancellation' AND state = 'pending'
    GROUP BY emr, ehr_appointment_id HAVING count(*) > 1`,
  'an appointment is booked without an event': `
    SELECT emr, id FROM sandbox.appointments AS appointment
    WHERE state = 'booked' AND NOT ${hasEvent('appointment.booked')}`,
  'an appointment is held without an event': `
    SELECT emr, id FROM sandbox.appointments AS appointment
    WHERE state = 'held' AND held_until > clock_timestamp() AND NOT ${hasEvent('appointment.awaiting_confirmation')}`,
  'a booked appointment is cancelled without an event': `
    SELECT emr, id FROM sandbox.appointments AS appointment
    WHERE state = 'cancelled' AND ${hasEvent('appointment.booked')} AND NOT ${hasEvent('appointment.cancelled')}`,
  'an event is repeated': `
    SELECT emr, subject, type FROM events
    WHERE type IN ('appointment.booked', 'appointment.cancelled') OR (
      type = 'appointment.confirmation_expired' AND data ->> 'status' = 'cancelled')
    GROUP BY emr, subject, type HAVING count(*) > 1`,
  'an appointment is active without an audit entry of the write that made it': `
    SELECT emr, id FROM sandbox.appointments AS appointment
    WHERE (state = 'booked' OR (state = 'held' AND held_until > clock_timestamp())) AND NOT EXISTS (
      SELECT FROM (
        SELECT emr, record_ids, outcome, operation_id FROM audit_entries UNION ALL
        SELECT emr, record_ids, outcome, operation_id FROM audit_drafts) AS access
      WHERE access.emr = appointment.emr AND appointment.id = ANY(record_ids) AND outcome = 'success'
        AND operation_id IS NOT NULL)`,
  'an audit entry is missing': `
    SELECT chain_id FROM audit_entries GROUP BY chain_id HAVING count(*) <> max(position)`,
};

/** The rows that violate an invariant, by the invariant's name. */
export async function findViolations({ pool }: Database): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  const client = await pool.connect();
  try {
    for (const [name, sql] of Object.entries(violations)) {
      const { rows } = await client.query(sql, []);
      if (rows.length > 0) found[name] = rows;
    }
  } finally {
    client.release();
  }
  return found;
}
