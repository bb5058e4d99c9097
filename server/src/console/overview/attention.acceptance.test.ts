/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { insertFailedMessage, insertWrite } from '../../../../test/database/stuck-rows.ts';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { eventually } from '../../../../test/requests/codes.ts';
import { browserWith, withConsole } from '../../../../test/requests/console.ts';
import { insertEndpoint } from '../../webhooks/endpoint-store.ts';
import { makeSecret } from '../../webhooks/signing.ts';
import { sealPlan } from '../../writes/stored-write.ts';
import type { Role } from '../accounts/roles.ts';

const ehrs = faultyEhrs();
const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => ehrs.faulty(connector, emr))],
  configure: withConsole,
});
afterAll(() => gateway.close());
const { db, keys } = gateway.deps.services;

beforeEach(async () => {
  ehrs.reset();
  for (const table of ['operations', 'messages', 'webhook_deliveries', 'webhook_endpoints', 'events'] as const) {
    await db.deleteFrom(table).execute();
  }
});

let operators = 0;
const signedIn = async (role: Role) => (await browserWith(gateway, `operator-${++operators}`, role)).browser;

/** What the overview says before its other parts. */
async function needs(role: Role = 'view'): Promise<string> {
  const { text } = await (await signedIn(role)).open('/console');
  return /Needs attention (.*?) Work /.exec(text)?.[1] ?? '';
}

async function lastEvent(): Promise<string | undefined> {
  const events = db.selectFrom('events').select('type').where('emr', '=', 'sandbox-se');
  return (await events.orderBy('sequence', 'desc').limit(1).executeTakeFirst())?.type;
}

/** An operation with a plan about these patients, as it was two minutes ago. */
async function stuck(state: 'pending' | 'suspended' | 'leased', ...patients: readonly string[]): Promise<string> {
  const id = await insertWrite(gateway.database, state);
  const steps = patients.map((patientId) => ({ change: { kind: 'create', patientId }, before: { patientId } }));
  const sealed = sealPlan(keys, { clientId: 'c', id }, { steps });
  await sql`
    UPDATE operations SET sealed_plan = ${sealed}, created_at = now() - interval '2 minutes' WHERE id = ${id}`.execute(
    db,
  );
  return id;
}

test('nothing needs attention at first', async () => {
  expect(await needs()).toBe('Nothing needs attention.');
});

describe('what needs attention is told with its cause, its patients and what mends it', () => {
  test('suspended operations, one line for each cause', async () => {
    await stuck('suspended', 'p-1', 'p-2');
    await stuck('suspended', 'p-2');
    expect(await needs('operate')).toMatch(
      /^Sandlådan Sverige 2 operations are suspended and wait for you: the EHR rejects the call, since .* UTC.*; it concerns 2 patients\. Try them now : operations of sandbox-se Operations of sandbox-se$/,
    );
    expect(await needs('view')).not.toContain('Try them now');
  });

  test('operations that have not ended, unless a gateway is working on them', async () => {
    await stuck('leased', 'p-1');
    const id = await stuck('pending', 'p-1');
    expect(await needs()).toMatch(/^Sandlådan Sverige 1 operation has not ended, since .*; it concerns 1 patient\./);
    await sql`UPDATE operations SET created_at = now() WHERE id = ${id}`.execute(db);
    expect(await needs()).toBe('Nothing needs attention.');
  });

  test('messages that are late, by channel and cause', async () => {
    await insertFailedMessage(gateway.database, 'a-late');
    await sql`
      UPDATE messages SET state = 'queued', completed_at = NULL, next_attempt_at = now() + interval '1 hour',
        failure_reason = 'connection_refused', created_at = now() - interval '61 seconds'`.execute(db);
    // A gateway notices it within seconds.
    await eventually(async () =>
      expect(await needs('operate')).toMatch(
        /^SMS 1 message has not left yet: [^,]+, since .*; it concerns 1 patient\. Send all SMS now Messages by SMS$/,
      ),
    );
    expect(await needs('view')).not.toContain('Send all');
  });

  test('messages that can no longer be sent, until another one leaves', async () => {
    const id = await insertFailedMessage(gateway.database, 'a-lost');
    const lost =
      /^SMS 1 message failed and can no longer be sent, and none has left since: .*, since .*\. Messages by SMS$/;
    await sql`UPDATE messages SET expires_at = now(), completed_at = now() - interval '1 minute'`.execute(db);
    expect(await needs('operate')).toMatch(lost);
    const overview = await (await signedIn('view')).open('/console');
    expect(overview.text).toContain('1 failed message in the last 24 hours 0 queued messages');
    await insertFailedMessage(gateway.database, 'a-sent');
    await sql`UPDATE messages SET state = 'sent', sealed_content = NULL, failure_reason = NULL, channel = 'email' WHERE id <> ${id}`.execute(
      db,
    );
    expect(await needs('operate')).toMatch(lost);
    await sql`UPDATE messages SET channel = 'sms'`.execute(db);
    expect(await needs()).toBe('Nothing needs attention.');
    // A provider that works rejects the number of one patient.
    await sql`DELETE FROM messages WHERE id <> ${id}`.execute(db);
    for (const reason of ['address_invalid', 'recipient_rejected_550', 'twilio_30003']) {
      await sql`UPDATE messages SET failure_reason = ${reason}`.execute(db);
      expect(await needs(), reason).toBe('Nothing needs attention.');
    }
    await sql`UPDATE messages SET failure_reason = 'twilio_20003'`.execute(db);
    expect(await needs()).toMatch(lost);
  });

  test('a paused EHR, with the end of the pause and the button that ends it', async () => {
    const browser = await signedIn('operate');
    await browser.open('/console/connections/sandbox-se');
    for (const [duration, end] of [
      ['60', '\\d.* UTC .*'],
      ['open', 'an operator resumes it'],
    ]) {
      await browser.submit('/console/connections/sandbox-se/pause', { duration: duration ?? '' });
      expect(await needs('operate')).toMatch(
        new RegExp(
          `^Sandlådan Sverige Operators have paused the EHR until ${end}, since .* Resume Sandlådan Sverige Details`,
        ),
      );
      expect(await needs('view')).not.toContain('Resume');
    }
    // A background job writes events. It must see the end of the pause before a later test stops the EHR.
    await expect.poll(lastEvent).toBe('emr.unavailable');
    await browser.submit('/console/connections/sandbox-se/resume', {});
    expect(await needs()).toBe('Nothing needs attention.');
    await expect.poll(lastEvent).toBe('emr.recovered');
  });

  test('endpoints that do not get their events', async () => {
    const made = { clientId: 'clinic', url: 'https://hooks.clinic.example', secret: makeSecret(), eventTypes: null };
    const id = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, made, 1000)))?.id ?? '';
    await sql`
      WITH made AS (INSERT INTO events (type, emr, data) VALUES ('emr.recovered', 'sandbox-no', '{}') RETURNING id)
      INSERT INTO webhook_deliveries
        (endpoint_id, event_id, event_position, attempts, next_attempt_at, response_status, failure_reason, created_at)
      SELECT ${id}::uuid, id, 1, 1, now() + interval '1 hour', 503, 'status', now() - interval '2 minutes' FROM made`.execute(
      db,
    );
    expect(await needs()).toMatch(
      new RegExp(
        `^Webhooks of clinic to hooks.clinic.example:443 1 event is not delivered yet: status 503 from hooks.clinic.example:443, since .* Deliveries to ${id}$`,
      ),
    );
    await sql`UPDATE webhook_deliveries SET response_status = NULL, failure_reason = 'connection_refused'`.execute(db);
    expect(await needs()).toContain(': connection refused by hooks.clinic.example:443, since');
    // Two paths of a server look alike without the id.
    const twin = { ...made, url: 'https://hooks.clinic.example/kanari-path?token=kanari' };
    const twinId = (await db.transaction().execute((tx) => insertEndpoint(tx, keys, twin, 1000)))?.id ?? '';
    await sql`
      INSERT INTO webhook_deliveries (endpoint_id, event_id, event_position, next_attempt_at, created_at)
      SELECT ${twinId}::uuid, event_id, 1, next_attempt_at, created_at FROM webhook_deliveries`.execute(db);
    for (const one of [id, twinId]) {
      expect(await needs()).toContain(`Webhooks of clinic to hooks.clinic.example:443 (${one}) 1 event is not`);
    }
    expect(await needs()).not.toContain('kanari');
    await sql`UPDATE webhook_endpoints SET disabled_reason = 'client'`.execute(db);
    expect(await needs()).toBe('Nothing needs attention.');
  });
});

describe('an operator who may', () => {
  test('lets all operations of an EHR be tried now, but for those that a gateway is working on', async () => {
    const [pending, suspended, leased] = [await stuck('pending'), await stuck('suspended'), await stuck('leased')];
    const due = async () => {
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM operations WHERE next_attempt_at <= now() AND suspended_at IS NULL`.execute(db);
      return rows.map(({ id }) => id);
    };
    // Nobody takes what becomes due.
    await sql`UPDATE operations SET emr = 'elsewhere'`.execute(db);
    const browser = await signedIn('operate');
    await browser.open('/console');
    const form = { emr: 'elsewhere', suspended: 'no' };
    const page = await browser.submit('/console/operations/try-now', form);
    expect([page.path, page.text]).toEqual(['/console?result=due', expect.stringContaining('The operations are due.')]);
    expect(await due()).toEqual([pending]);
    await browser.submit('/console/operations/try-now', { ...form, suspended: 'yes' });
    expect((await due()).sort()).toEqual([pending, suspended].sort());
    await sql`DELETE FROM operations WHERE id <> ${leased}`.execute(db);
    expect((await browser.submit('/console/operations/try-now', form)).text).toContain('Nothing was changed');
    expect((await browser.open('/console/activity')).text).toMatch(/operation retry elsewhere not possible/);
  });

  test('sends all messages of the channel that is meant, and no others', async () => {
    const ids = [
      await insertFailedMessage(gateway.database, 'a-sms'),
      await insertFailedMessage(gateway.database, 'a-email'),
    ];
    await sql`UPDATE messages SET channel = 'email' WHERE first_appointment_id = 'a-email'`.execute(db);
    // No gateway takes what is queued.
    const states = async () => {
      const { rows } = await sql<{ state: string }>`
        SELECT CASE WHEN queued_again_at IS NULL THEN 'failed' ELSE 'again' END AS state FROM messages
        ORDER BY array_position(${ids}::uuid[], id)`.execute(db);
      return rows.map(({ state }) => state);
    };
    expect(await needs('operate')).toMatch(/Send all SMS again .* Send all e-mails again /);
    const browser = await signedIn('operate');
    await browser.open('/console');
    await browser.submit('/console/messages/send-again', { channel: 'email' });
    expect(await states()).toEqual(['failed', 'again']);
    expect((await browser.open('/console/activity')).text).toMatch(/message send again email done/);

    await sql`UPDATE messages SET state = 'queued', completed_at = NULL, next_attempt_at = now() + interval '1 hour'`.execute(
      db,
    );
    await browser.open('/console');
    await browser.submit('/console/messages/send-now', { channel: 'sms' });
    // A gateway may take it at once.
    const { rows } = await sql`
      SELECT channel FROM messages WHERE coalesce(next_attempt_at, now()) < now() + interval '1 minute'`.execute(db);
    expect(rows).toEqual([{ channel: 'sms' }]);
  });

  test('lets one pending operation be tried now', async () => {
    const id = await stuck('pending');
    await sql`UPDATE operations SET emr = 'elsewhere'`.execute(db);
    const browser = await signedIn('operate');
    await browser.open(`/console/operations/${id}`);
    expect((await browser.submit(`/console/operations/${id}/retry`)).text).toContain('The operation is due.');
    const { rows } = await sql`SELECT next_attempt_at <= now() AS due FROM operations WHERE id = ${id}`.execute(db);
    expect(rows).toEqual([{ due: true }]);
  });
});

// The last, because the calls of the last five minutes are told for five minutes.
test('an EHR that is not available first, with the operations that wait for it', async () => {
  await stuck('pending', 'p-1');
  // The same patient waits for another cause.
  const other = await stuck('pending', 'p-1', 'p-2');
  await sql`UPDATE operations SET last_failure = 'ehr_timeout' WHERE id = ${other}`.execute(db);
  await insertFailedMessage(gateway.database);
  const ehr = ehrs.of('sandbox-se');
  ehr.goDown();
  const path = '/api/emrs/sandbox-se/care-units/sodermalm/patients/p-1';
  await expect
    .poll(async () => {
      await gateway.request('GET', path);
      return (await gateway.request<{ status: string }>('GET', '/api/emrs/sandbox-se')).body.status;
    })
    .toBe('unavailable');
  // A background job writes the event that says since when.
  await expect
    .poll(() => needs('operate'))
    .toMatch(
      /^Sandlådan Sverige The EHR .*: \S.*; 2 operations wait for it, since .*; it concerns 2 patients\. Check Sandlådan Sverige Details of Sandlådan Sverige SMS 1 message can be sent again after a failure: [^,]+, since .*; it concerns 1 patient\./,
    );
  const browser = await signedIn('operate');
  expect((await browser.open('/console/connections')).text).toMatch(
    /Sandlådan Sverige sandbox-se (Not available|Trying again) \S.* simulated failure \d.* UTC \(.* Oslo\) sandbox Check/,
  );
  expect((await browser.open('/console/connections/sandbox-se')).text).toMatch(
    /sandbox-se · .* (The EHR is not available|The EHR was not available.*): \S.*; 2 operations wait for it, since .* UTC .*; it concerns 2 patients\. Check the connection .* Calls /,
  );
  expect((await browser.open('/console/connections/sandbox-se')).text).toMatch(
    /Last errors .* failed calls, by cause .* simulated failure findPatient [1-9]/,
  );
  await sql`DELETE FROM operations WHERE id = ${other}`.execute(db);
  ehr.comeUp();
  await expect
    .poll(async () => {
      await gateway.request('GET', path);
      return needs();
    })
    .toMatch(
      /^Sandlådan Sverige \d+ of \d+ calls failed in the last five minutes: .*Sandlådan Sverige 1 operation has not ended/,
    );
});

// At the end, because activity that is linked to the audit trail cannot be deleted.
test('sign-ins that were rejected often', async () => {
  await sql`
    INSERT INTO operator_activity (operator_name, action, outcome)
    SELECT 'unknown name', 'sign_in', 'rejected' FROM generate_series(1, 10)`.execute(db);
  expect(await needs()).toContain('Sign-ins 10 sign-ins to this console were rejected in the last hour. Activity');
});
