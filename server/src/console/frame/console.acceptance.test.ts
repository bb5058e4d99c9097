/** @module-tag any-database */
import { sql } from 'kysely';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { insertFailedMessage, insertWrite } from '../../../../test/database/stuck-rows.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import {
  browserWith,
  type ConsoleBrowser,
  consoleBrowser,
  consoleUrl,
  newOperator,
  type TestOperator,
  withConsole,
} from '../../../../test/requests/console.ts';
import { sealPlan } from '../../writes/stored-write.ts';
import { changeRole, disableOperator } from '../accounts/operators.ts';
import type { Role } from '../accounts/roles.ts';

const publicHost = 'appointments.example.org';
const gateway = await startGateway({
  configure: (it) => ({
    ...withConsole(it),
    http: { ...it.http, public_url: `https://${publicHost}`, trusted_proxies: ['127.0.0.1'] },
  }),
  logLevel: 'trace',
});
afterAll(() => gateway.close());
const { db } = gateway.deps.services;

/** A plan as it is stored, with data of a patient. */
const plan = {
  many: false,
  steps: [
    {
      change: { kind: 'create', hold: true, comment: 'kanari-comment', patientId: 'kanari-patient' },
      awaits: { kind: 'booking', patientId: 'kanari-patient', channel: 'sms', to: '+4790012345' },
    },
    { change: { kind: 'cancel', appointmentId: 'kanari-appointment' } },
  ],
};

let operators = 0;
const newName = () => `operator-${++operators}`;

const signedIn = (role: Role) => browserWith(gateway, newName(), role);

/** Sends the form to sign in, without the token of a session. */
async function attempt(browser: ConsoleBrowser, { name, password }: Partial<TestOperator>, code: string) {
  await browser.open('/console/sign-in');
  return browser.submit('/console/sign-in', { name: name ?? '', password: password ?? '', code });
}

/** Lets the pauses after failed sign-ins pass. */
async function passPauses(): Promise<void> {
  await sql`UPDATE failed_sign_ins SET paused_until = now() - interval '1 second'`.execute(db);
}

async function forgetFailures(): Promise<void> {
  await sql`DELETE FROM failed_sign_ins`.execute(db);
}

describe('sign-in', () => {
  test('leads to the page that was asked for, with a cookie that scripts and other sites cannot use', async () => {
    const operator = await newOperator(gateway, newName(), 'view');
    const browser = consoleBrowser(gateway);
    const form = await browser.open('/console/activity');
    expect(form.path).toBe('/console/sign-in?next=activity');
    const response = await browser.send('POST', '/console/sign-in', {
      body: new URLSearchParams({
        form_token: /name="form_token" value="([^"]+)"/.exec(form.html)?.[1] ?? '',
        next: 'activity',
        name: ` ${operator.name.toUpperCase()} `,
        password: operator.password,
        code: operator.code(),
      }).toString(),
    });
    expect([response.status, response.headers.location]).toEqual([303, '../console/activity']);
    const [session] = response.headers['set-cookie'] ?? [];
    expect(session).toMatch(/^__Host-crossward-console=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const page = await browser.open('/console/activity');
    expect(page.text).toContain(`${operator.name} (view)`);
    expect(page.text).toMatch(new RegExp(`${operator.name} sign in 127.0.0.1 done`));
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      // No script at all, not even one of the page itself.
      'content-security-policy':
        "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none';style-src 'self';img-src data:;script-src 'none'",
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
  });

  test.each(['//example.org', 'https://example.org', '/api', '..%2f', 'a"b'])('does not lead to %s', async (next) => {
    const browser = consoleBrowser(gateway);
    const page = await browser.open(`/console/sign-in?next=${encodeURIComponent(next)}`);
    expect(page.html).toContain('name="next" value=""');
  });

  test('says the same for an unknown name, a wrong password and a wrong or used code', async () => {
    await forgetFailures();
    const operator = await newOperator(gateway, newName(), 'view');
    let code = operator.totp.generate();
    const browser = consoleBrowser(gateway);
    const expected = [401, expect.stringContaining('Wrong name, password or one-time code.')];
    const outcome = ({ status, text }: { status: number; text: string }) => [status, text];
    expect(outcome(await attempt(browser, { ...operator, name: 'nobody' }, code))).toEqual(expected);
    expect(outcome(await attempt(browser, { ...operator, password: 'a wrong password' }, code))).toEqual(expected);
    expect(outcome(await attempt(browser, operator, ''))).toEqual(expected);
    expect(outcome(await attempt(browser, operator, 'éééééé'))).toEqual(expected);
    expect(outcome(await attempt(browser, { ...operator, name: 'a\0b' }, code))).toEqual(expected);
    await forgetFailures();
    // The first one may have expired meanwhile.
    code = operator.code();
    expect((await attempt(browser, operator, code)).text).toContain('Overview');
    expect(outcome(await attempt(consoleBrowser(gateway), operator, code))).toEqual(expected);
    const { rows } = await sql<{ outcome: string }>`
      SELECT outcome FROM operator_activity WHERE operator_name = ${operator.name} ORDER BY id`.execute(db);
    expect(rows.map((it) => it.outcome)).toEqual(['rejected', 'rejected', 'rejected', 'done', 'rejected']);
  });

  test('accepts a code once, even if it is sent twice at the same time', async () => {
    await forgetFailures();
    const operator = await newOperator(gateway, newName(), 'view');
    const code = operator.code();
    const pages = await Promise.all(Array.from({ length: 4 }, () => attempt(consoleBrowser(gateway), operator, code)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  });

  test('waits after five failures of an account from one address, for its correct password too, and longer after each', async () => {
    await forgetFailures();
    const operator = await newOperator(gateway, newName(), 'view');
    const browser = consoleBrowser(gateway);
    for (let count = 0; count < 5; count++) {
      await passPauses();
      expect((await attempt(browser, { ...operator, password: 'a wrong password' }, '')).status).toBe(401);
    }
    // The pause of this failure lasts seconds, so it has not passed when the next one arrives.
    await passPauses();
    await sql`UPDATE failed_sign_ins SET failures = failures + 8`.execute(db);
    await attempt(browser, { ...operator, password: 'a wrong password' }, '');
    const waiting = await attempt(browser, operator, operator.code());
    expect(waiting.status).toBe(429);
    expect(Number(waiting.headers['retry-after'])).toBeGreaterThan(60);
    expect(waiting.text).toMatch(/Too many failed sign-ins. Wait \d+ seconds, then try again./);
    await passPauses();
    expect((await attempt(browser, operator, operator.code())).text).toContain('Overview');
    await forgetFailures();
  });

  test('counts sign-ins that arrive together', async () => {
    await forgetFailures();
    const operator = await newOperator(gateway, newName(), 'view');
    const guess = () => attempt(consoleBrowser(gateway), { ...operator, password: 'a wrong password' }, '');
    await guess();
    // The next failure starts a pause of minutes.
    await sql`UPDATE failed_sign_ins SET failures = 12`.execute(db);
    const guesses = await Promise.all(Array.from({ length: 10 }, guess));
    expect(guesses.map(({ status }) => status).sort()).toEqual([401, ...Array.from({ length: 9 }, () => 429)]);
    await forgetFailures();
  });

  test('says what is missing in the form', async () => {
    const page = await attempt(consoleBrowser(gateway), { name: 'kari' }, '');
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('Enter your name and your password.')]);
  });
});

describe('a session', () => {
  test('ends with the sign-out, in the database too', async () => {
    const { browser } = await signedIn('view');
    const copy = new Map(browser.cookies);
    await browser.open('/console');
    expect((await browser.submit('/console/sign-out')).path).toBe('/console/sign-in');
    for (const [name, value] of copy) browser.cookies.set(name, value);
    expect((await browser.open('/console')).path).toBe('/console/sign-in');
  });

  test('ends when its browser signs in again', async () => {
    await forgetFailures();
    const operator = await newOperator(gateway, newName(), 'view');
    const browser = consoleBrowser(gateway);
    await browser.signIn(operator);
    const copy = consoleBrowser(gateway);
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    expect((await copy.open('/console')).path).toBe('/console');
    expect((await browser.signIn(operator)).path).toBe('/console');
    expect((await copy.open('/console')).path).toBe('/console/sign-in');
  });

  test.each([
    ['half an hour without a request', sql`last_used_at = now() - interval '31 minutes'`],
    ['twelve hours', sql`expires_at = now() - interval '1 second'`],
  ])('ends after %s', async (_, change) => {
    const { operator, browser } = await signedIn('view');
    expect((await browser.open('/console')).text).toContain('Overview');
    await sql`UPDATE operator_sessions SET ${change} WHERE name = ${operator.name}`.execute(db);
    expect((await browser.open('/console/messages')).path).toBe('/console/sign-in?next=messages');
  });

  test('has the role of its account, and ends when that is disabled', async () => {
    const operator = await newOperator(gateway, newName(), 'view');
    const browser = consoleBrowser(gateway);
    await browser.signIn(operator);
    await changeRole(db, gateway.deps.services.keys, { name: operator.name, role: 'operate' });
    expect((await browser.open('/console')).text).toContain(`${operator.name} (operate)`);
    await disableOperator(db, gateway.deps.services.keys, { name: operator.name });
    expect((await browser.open('/console')).path).toBe('/console/sign-in');
    expect((await attempt(browser, operator, operator.code())).status).toBe(401);
  });

  test('says that a form sent after its end changed nothing', async () => {
    const { operator, browser } = await signedIn('operate');
    const id = await insertWrite(gateway.database, 'suspended');
    await browser.open(`/console/operations/${id}`);
    await sql`UPDATE operator_sessions SET expires_at = now() WHERE name = ${operator.name}`.execute(db);
    const page = await browser.submit(`/console/operations/${id}/retry`);
    expect([page.path, page.text]).toEqual([
      '/console/sign-in?result=expired',
      expect.stringContaining('Your session had ended, so nothing was changed.'),
    ]);
  });

  test('of OpenID Connect ends when that is not configured', async () => {
    const { browser } = await signedIn('view');
    await sql`UPDATE operator_sessions SET operator_id = NULL`.execute(db);
    expect((await browser.open('/console')).path).toBe('/console/sign-in');
  });

  test('is stored as a hash', async () => {
    const { browser } = await signedIn('view');
    const token = browser.cookies.get('__Host-crossward-console') ?? '';
    const { rows } = await sql<{ row: string }>`SELECT it::text AS row FROM operator_sessions it`.execute(db);
    const texts = [token, Buffer.from(token).toString('hex'), Buffer.from(token, 'base64url').toString('hex')];
    for (const text of texts) expect(rows.some(({ row }) => row.includes(text))).toBe(false);
  });
});

describe('a form', () => {
  test.each([
    ['another origin', { origin: 'https://example.org' }],
    ['no origin', { origin: undefined }],
    ['the origin of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a subdomain', { 'sec-fetch-site': 'same-site' }],
  ])('from %s is not accepted', async (_, headers) => {
    const { browser } = await signedIn('admin');
    const id = await insertWrite(gateway.database, 'suspended');
    await browser.open(`/console/operations/${id}`);
    const page = await browser.submit(`/console/operations/${id}/retry`, {}, headers);
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('Nothing was changed')]);
    expect((await browser.open(`/console/operations/${id}`)).text).toContain('suspended');
  });

  test.each(['', 'x', 'A'.repeat(43)])('with the token %j is not accepted', async (form_token) => {
    const { browser } = await signedIn('admin');
    const id = await insertWrite(gateway.database, 'suspended');
    const page = await browser.submit(`/console/operations/${id}/retry`, { form_token });
    expect(page.status).toBe(403);
    const signIn = await consoleBrowser(gateway).submit('/console/sign-in', { form_token, name: 'a', password: 'b' });
    expect(signIn.status).toBe(403);
  });

  test('of another type or size gets a page that says so', async () => {
    const { browser } = await signedIn('admin');
    const json = await browser.send('POST', '/console/sign-out', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([json.status, json.text]).toEqual([415, expect.stringContaining('The form was not accepted')]);
    const large = await browser.send('POST', '/console/sign-out', { body: `a=${'b'.repeat(20_000)}` });
    expect([large.status, large.text]).toEqual([413, expect.stringContaining('The form was not accepted')]);
  });
});

test('a role may do what it includes, and a page says which one is needed', async () => {
  const id = await insertWrite(gateway.database, 'suspended');
  const message = await insertFailedMessage(gateway.database, 'a-2');
  const { browser } = await signedIn('view');
  const page = await browser.open(`/console/operations/${id}`);
  expect(page.text).not.toContain('Try now');
  for (const path of [
    `operations/${id}/retry`,
    `messages/${message}/send`,
    'connections/sandbox-no',
    'connections/sandbox-no/report',
  ]) {
    await browser.open('/console');
    const { status, text } = await browser.submit(`/console/${path}`);
    expect([status, text]).toEqual([
      403,
      expect.stringContaining('This needs the role operate . You have the role view .'),
    ]);
  }
  const operate = (await signedIn('operate')).browser;
  expect((await operate.open(`/console/operations/${id}`)).text).toContain('Try now');
  const drop = await operate.open(`/console/operations/${id}/drop`);
  expect([drop.status, drop.text]).toEqual([403, expect.stringContaining('This needs the role admin')]);
  const sent = await operate.submit(`/console/operations/${id}/drop`, { checked: 'yes' });
  expect(sent.status).toBe(403);
});

test.each([
  ['operations', 'Open operations'],
  ['webhooks', 'Endpoints'],
  ['clients', 'All clients'],
  ['accounts', 'Accounts of this gateway'],
  ['activity', 'Actions of operators'],
  ['connections', 'EHRs'],
])('the list of %s has the heading %s', async (path, heading) => {
  const { browser } = await signedIn('admin');
  expect((await browser.open(`/console/${path}`)).html).toContain(`<h2>${heading}</h2>`);
});

describe('an operator', () => {
  test('finds an operation by its id, retries it, and drops it after a second question', async () => {
    const { operator, browser } = await signedIn('admin');
    const id = await insertWrite(gateway.database, 'suspended');
    expect((await browser.open('/console/operations')).text).toContain(id);
    expect((await browser.open('/console/operations?id=5b0f')).text).toContain('An operation id has the form');
    const missing = '00000000-0000-4000-8000-000000000000';
    expect((await browser.open(`/console/operations?id=${missing}`)).text).toContain('No open operation has this id.');
    expect((await browser.open(`/console/operations/${missing}`)).status).toBe(404);

    const found = await browser.open(`/console/operations?id=${id.toUpperCase()}`);
    expect(found.path).toBe(`/console/operations/${id}`);
    expect(found.text).toContain('The operation is suspended');
    expect(found.text).toContain('Last failure ehr_rejected');

    const asked = await browser.open(`/console/operations/${id}/drop`);
    expect(asked.text).toContain('changes already made in the EHR remain');
    expect((await browser.submit(`/console/operations/${id}/drop`)).text).toContain('Nothing was changed');
    expect((await browser.submit(`/console/operations/${id}/drop`, { checked: 'yes' })).text).toContain(
      'The operation is dropped.',
    );
    await browser.open('/console');
    expect((await browser.submit(`/console/operations/${id}/drop`, { checked: 'yes' })).status).toBe(404);

    const other = await insertWrite(gateway.database, 'suspended');
    await browser.open(`/console/operations/${other}`);
    expect((await browser.submit(`/console/operations/${other}/retry`)).text).toContain('The operation is due.');
    const leased = await insertWrite(gateway.database, 'leased');
    await browser.open(`/console/operations/${leased}/drop`);
    expect((await browser.submit(`/console/operations/${leased}/drop`, { checked: 'yes' })).text).toContain(
      'a gateway is working on this operation',
    );
    const { text } = await browser.open('/console/activity');
    expect(text).toContain(`${operator.name} operation drop ${leased} not possible`);
    expect(text).toContain(`${operator.name} operation retry ${other} done`);
    expect(text).toContain(`${operator.name} operation drop ${id} done`);
    expect((await browser.open('/console/activity?before=1')).text).toContain('No entries.');
    expect((await browser.open('/console/activity?before=x')).status).toBe(400);
  });

  test('does nothing for an operator whose session ends while the request is on its way', async () => {
    const stuck = await insertWrite(gateway.database, 'suspended');
    const message = await insertFailedMessage(gateway.database, 'a-ended');
    const seen = async () =>
      (
        await sql`
          SELECT state, suspended_at FROM operations WHERE id = ${stuck}
          UNION ALL SELECT state, completed_at FROM messages WHERE id = ${message}`.execute(db)
      ).rows;
    const before = await seen();
    await sql`
      CREATE FUNCTION end_sessions() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN DELETE FROM operator_sessions; RETURN coalesce(NEW, OLD); END'`.execute(db);
    for (const table of ['operations', 'messages']) {
      await sql`
        CREATE TRIGGER meanwhile BEFORE UPDATE OR DELETE ON ${sql.table(table)} FOR EACH ROW
        EXECUTE FUNCTION end_sessions()`.execute(db);
    }
    try {
      for (const [shown, path] of [
        [`operations/${stuck}/drop`, `operations/${stuck}/drop`],
        [`operations/${stuck}`, `operations/${stuck}/retry`],
        ['messages', `messages/${message}/send`],
      ] as const) {
        const { browser, operator } = await signedIn('admin');
        await browser.open(`/console/${shown}`);
        const { text } = await browser.submit(`/console/${path}`, { checked: 'yes' });
        expect([path, text]).toEqual([path, expect.stringContaining('so nothing was changed')]);
        const activity = await db
          .selectFrom('operator_activity')
          .selectAll()
          .where('operator_name', '=', operator.name);
        expect(await activity.execute()).toEqual([]);
      }
    } finally {
      await sql`DROP FUNCTION end_sessions() CASCADE`.execute(db);
    }
    expect(await seen()).toEqual(before);
  });

  test('drops an operation only in the state that the page showed', async () => {
    const { browser } = await signedIn('admin');
    const id = await insertWrite(gateway.database, 'suspended');
    await browser.open(`/console/operations/${id}/drop`);
    await sql`UPDATE operations SET last_sent_at = now() WHERE id = ${id}`.execute(db);
    const page = await browser.submit(`/console/operations/${id}/drop`, { checked: 'yes' });
    expect(page.text).toContain('the operation has changed since you opened the page');
    expect(page.text).toContain('suspended');
  });

  test('is not shown that an operation is due after it was suspended again', async () => {
    const { browser } = await signedIn('view');
    const id = await insertWrite(gateway.database, 'suspended');
    expect((await browser.open(`/console/operations/${id}?result=retried`)).text).not.toContain('is due');
    expect((await browser.open(`/console/operations/${id}?result=constructor`)).status).toBe(200);
  });

  test('sees at most 200 messages', async () => {
    const { browser } = await signedIn('view');
    const id = await insertFailedMessage(gateway.database, 'a-many');
    await sql`
      INSERT INTO messages (id, confirmation_id, sequence, emr, care_unit_id, channel, first_appointment_id,
        sealed_content, state, failure_reason, completed_at, expires_at, created_at)
      SELECT gen_random_uuid(), confirmation_id, 1 + it, emr, care_unit_id, channel, first_appointment_id,
        sealed_content, state, failure_reason, completed_at, expires_at, created_at - interval '1 hour'
      FROM messages, generate_series(1, 210) AS it WHERE id = ${id}`.execute(db);
    const { html, text } = await browser.open('/console/messages');
    expect(html.match(/<tr role="row"><td/g)).toHaveLength(200);
    expect(text).toContain('Only the first 200 messages are listed: failed ones first');
    await sql`DELETE FROM messages WHERE first_appointment_id = 'a-many'`.execute(db);
  });

  test('sees what the steps of an operation do, without the data of the patient', async () => {
    const { browser } = await signedIn('view');
    const id = await insertWrite(gateway.database, 'suspended');
    expect((await browser.open(`/console/operations/${id}`)).text).toContain('The plan cannot be read');
    const { keys } = gateway.deps.services;
    const sealed = sealPlan(keys, { clientId: 'c', id }, plan);
    await sql`UPDATE operations SET sealed_plan = ${sealed} WHERE id = ${id}`.execute(db);
    const { text, html } = await browser.open(`/console/operations/${id}`);
    expect(text).toContain('Steps hold a time send a code for the booking by sms cancel an appointment Request');
    for (const secret of ['kanari', '+4790012345']) expect(html).not.toContain(secret);
  });

  test('sends a failed message again', async () => {
    const { browser } = await signedIn('operate');
    const id = await insertFailedMessage(gateway.database);
    const page = await browser.open('/console/messages');
    expect(page.text).toContain('status 401 from the provider');
    expect(page.html).toContain(`messages/${id}/send`);
    expect(page.text).toMatch(/failed SMS: \d+ messages?, status 401 from the provider, since /);
    expect((await browser.submit(`/console/messages/${id}/send`)).text).toContain('1 message is queued again.');
    await browser.open('/console/messages');
    expect((await browser.submit('/console/messages/x/send')).text).toContain('Nothing was sent');
  });

  test('checks a connection', async () => {
    const { operator, browser } = await signedIn('operate');
    await browser.open('/console/connections');
    const { text } = await browser.submit('/console/connections/sandbox-no');
    // The sandbox has no probe.
    expect(text).toContain('The connector opens. Its server was not checked.');
    expect(text).toContain('Patients by emr_id, no_personal_number');
    const page = await browser.open('/console/connections/sandbox-no');
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Sandkassen Norge Available')]);
    expect((await browser.open('/console/connections/nowhere')).path).toBe('/console/connections?result=unknown');
    expect((await browser.submit('/console/connections/nowhere')).text).toContain('has no EHR with this id');
    expect((await browser.open('/console/activity')).text).toContain(
      `${operator.name} connection check sandbox-no done`,
    );
  });

  test('makes a report on a connection to hand over', async () => {
    const { operator, browser } = await signedIn('operate');
    await browser.open('/console/connections/sandbox-no');
    const { text } = await browser.submit('/console/connections/sandbox-no/report');
    expect(text).toContain('Sandkassen Norge: report on its connection Id sandbox-no Connector sandbox Checked 20');
    expect(text).toMatch(/What works .* look up a patient by emr_id, no_personal_number .* write schedules/);
    expect(text).not.toContain('What does not work');
    expect(text).toMatch(/Settings connector: sandbox .* country: NO care_units: /);
    expect((await browser.open('/console/activity')).text).toContain(
      `${operator.name} connection check sandbox-no done`,
    );
  });

  test('is told which file of a connection cannot be read', async () => {
    const [emr] = gateway.deps.console?.configuration().emrs ?? [];
    if (!emr) throw new Error('The demo has no EHR');
    const missing = '/nowhere/ca.pem';
    const connection = vi.spyOn(emr, 'connection', 'get');
    connection.mockReturnValue({ ...emr.connection, ca_file: missing });
    const { operator, browser } = await signedIn('operate');
    await browser.open('/console/connections');
    const page = await browser.submit(`/console/connections/${emr.id}`);
    connection.mockRestore();
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Sandkassen Norge has a problem.')]);
    expect(page.text).toContain(
      `The connection cannot be opened: ${missing}: cannot be read as PEM certificates (ca_file)`,
    );
    expect((await browser.open('/console/activity')).text).toContain(
      `${operator.name} connection check ${emr.id} problem`,
    );
  });

  test('sees EHRs, operations and messages at a glance', async () => {
    const { browser } = await signedIn('view');
    await insertWrite(gateway.database, 'suspended');
    const before = await browser.open('/console');
    expect(before.text).toMatch(/[1-9]\d* suspended operations? for an operator to look at/);
    expect(before.text).toContain('Sandkassen Norge Available sandbox-no');
    await gateway.request('GET', '/api/emrs/sandbox-uk/care-units/riverside/patients/p-1');
    const { html, text } = await browser.open('/console');
    expect(html).toMatch(/<rect class="calls" x="591" /);
    expect(text).toMatch(/sandbox-uk · last success .* ago .* 5 min [1-9].* 1 h [1-9]/);
  });
});

test('pages that do not exist say so, and other host names get nothing', async () => {
  const { browser } = await signedIn('view');
  const page = await browser.open('/console/nothing/here');
  expect([page.status, page.text]).toEqual([404, expect.stringContaining('The console has no page here.')]);
  expect(page.html).toContain('href="../../console"');
  // With the navigation of the operator, but not for strangers.
  expect(page.text).toContain('Your account Sign out Overview Operations');
  const stranger = await consoleBrowser(gateway).open('/console/nothing/here');
  expect([stranger.status, stranger.text]).toEqual([404, expect.not.stringContaining('Sign out')]);
  expect((await browser.open('/console/')).path).toBe('/console');
  const forged = await browser.send('GET', '/console/nothing', {
    headers: { host: publicHost, 'x-forwarded-host': new URL(consoleUrl).host },
  });
  expect([forged.status, forged.text]).toEqual([404, expect.stringContaining('route_not_found')]);
  for (const host of [publicHost, 'gateway.internal.example.org:8443', 'localhost']) {
    const response = await browser.send('GET', '/console', { headers: { host } });
    expect([response.status, response.text]).toEqual([404, expect.stringContaining('route_not_found')]);
  }
});
