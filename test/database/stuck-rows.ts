import type { Database } from '../../server/src/db/database.ts';

/** Each a bit younger than the previous one. */
let operations = 0;
/** An open operation in a state. Its plan cannot be decrypted. It is not due, so no gateway recovers it. Returns its id. */
export async function insertWrite(
  { pool }: Pick<Database, 'pool'>,
  state: 'pending' | 'compensating' | 'monitored' | 'suspended' | 'leased',
): Promise<string> {
  const client = await pool.connect();
  try {
    const stored = {
      pending: 'pending',
      compensating: 'compensating',
      monitored: 'done',
      suspended: 'pending',
      leased: 'pending',
    };
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO operations (id, client_id, idempotency_key_hash, request_hash, emr, care_unit_id, kind, state, sealed_plan,
         next_attempt_at, suspended_at, consecutive_failures, last_failure, lease_token, lease_expires_at, created_at)
       SELECT gen_random_uuid(), 'c', convert_to(gen_random_uuid()::text, 'UTF8'), '\\xcafe', 'sandbox-se', 'lund',
         'appointments', $1, 'of the patient', CASE WHEN NOT suspended THEN now() + interval '1 hour' END,
         CASE WHEN suspended THEN now() END,
         CASE WHEN suspended THEN 5 ELSE 0 END, CASE WHEN suspended THEN 'ehr_rejected' END,
         CASE WHEN leased THEN gen_random_uuid() END, CASE WHEN leased THEN now() + interval '1 hour' END,
         now() - make_interval(secs => 100 - $4::float8 / 1000)
       FROM (SELECT $2::boolean AS suspended, $3::boolean AS leased) AS it RETURNING id`,
      [stored[state], state === 'suspended', state === 'leased', ++operations],
    );
    return rows[0]?.id ?? '';
  } finally {
    client.release();
  }
}

/** A message that a provider rejected, and whose code is pending. Returns its id. */
export async function insertFailedMessage({ pool }: Pick<Database, 'pool'>, appointmentId = 'a-1'): Promise<string> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      `WITH confirmation AS (
         INSERT INTO confirmations
           (id, client_id, emr, care_unit_id, kind, channel, max_attempts, expires_at)
         VALUES (gen_random_uuid(), 'c', 'sandbox-se', 'lund', 'booking', 'sms', 5, now() + interval '10 minutes')
         RETURNING *
       ), item AS (
         INSERT INTO confirmation_items (emr, appointment_id, confirmation_id, care_unit_id, position, kind)
         SELECT emr, $1, id, care_unit_id, 0, kind FROM confirmation
       )
       INSERT INTO messages (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id, sealed_content,
         state, failure_reason, expires_at, completed_at)
       SELECT gen_random_uuid(), id, 1, emr, care_unit_id, channel, $1, '\\x00', 'failed', 'http_401', expires_at, now()
       FROM confirmation RETURNING id`,
      [appointmentId],
    );
    return rows[0]?.id ?? '';
  } finally {
    client.release();
  }
}
