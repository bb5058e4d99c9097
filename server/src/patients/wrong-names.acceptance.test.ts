/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Gateway, type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import { bergen, oslo, sodermalm } from '../../../test/requests/bookings.ts';
import { rowsOf } from '../../../test/requests/codes.ts';
import { newKey, requestToken, signAssertion, withKeyClient } from '../../../test/requests/tokens.ts';
import { fhirClient } from '../fhir-face/test-requests.ts';

const key = await newKey('key-1');
const limits = { requests_per_minute: 100_000 };
const configure: NonNullable<Parameters<typeof startGateway>[0]>['configure'] = (it) =>
  withKeyClient({ ...it, limits: { ...it.limits, ...limits } }, 'registry', { jwks: { keys: [key.publicKey] } });
const first = await startGateway({ configure });
const second = await startGateway({ configure, beside: first });
afterAll(async () => {
  await second.close();
  await first.close();
});
const forget = () => rowsOf(first, 'DELETE FROM failed_sign_ins');
beforeEach(async () => {
  await forget();
});

interface Patient {
  readonly id: string;
  readonly identifiers: readonly string[];
  readonly family_name: string;
  readonly birth_date: string;
  readonly phone: string | null;
  readonly email: string | null;
  readonly address: object | null;
}

async function recorded(id: string, careUnit = oslo) {
  const { body } = await first.request<Patient>('GET', `${careUnit}/patients/${id}`);
  const number = body.identifiers.find((it) => it.includes('_personal_number:')) ?? '';
  const named = { given_name: 'Any', family_name: body.family_name, birth_date: body.birth_date };
  return { record: body, number, named };
}
const target = await recorded('p-1');
const other = await recorded('p-2');
/** With the same id at another EHR. */
const elsewhere = await recorded('p-1', sodermalm);

type Known = typeof target;

interface Options extends RequestOptions {
  readonly gateway?: Gateway;
  readonly careUnit?: string;
}

/** @param fields of the body that differ from the record */
function ask(
  { number, named }: Known,
  fields: object = {},
  { gateway = first, careUnit = oslo, ...more }: Options = {},
) {
  return gateway.request<Patient & Problem>('POST', `${careUnit}/patients`, {
    ...more,
    body: { identifier: 'header:x-new-patient', ...named, ...fields },
    headers: { 'x-new-patient': number, ...more.headers },
  });
}
type Answer = Awaited<ReturnType<typeof ask>>;

/** Asks again while the gateway has begun nothing, because the machine is busy. */
async function askUntilAnswered(...input: Parameters<typeof ask>): Promise<Answer> {
  for (;;) {
    const answer = await ask(...input);
    if (answer.body.reason !== 'overloaded') return answer;
  }
}

const wrong = { family_name: 'Annet' };
const secondsOf = ({ headers }: Answer) => Number(headers['retry-after']);
const outcomeOf = ({ status, body }: Answer) => [status, body.reason];

async function guessFive(options?: Options): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    expect(outcomeOf(await ask(target, wrong, options))).toEqual([409, 'patient_mismatch']);
  }
}
const endPause = () => rowsOf(first, 'UPDATE failed_sign_ins SET paused_until = clock_timestamp()');

describe('wrong names for one number', () => {
  test('of 200 guesses at two gateways and care units, five are compared, and the right name waits too', async () => {
    const answers: Answer[] = [];
    for (let turn = 0; turn < 10; turn++) {
      const guesses = Array.from({ length: 20 }, (_, index) => {
        const guess =
          index % 3 === 0
            ? { birth_date: `19${40 + turn}-01-${10 + index}` }
            : { family_name: `Navn ${'ab'.charAt(index % 2)}` };
        const where = { gateway: index % 2 === 0 ? first : second, careUnit: index % 4 < 2 ? oslo : bergen };
        return askUntilAnswered(target, guess, where);
      });
      answers.push(...(await Promise.all(guesses)));
    }
    const compared = answers.filter(({ status }) => status === 409);
    const refused = answers.filter(({ status }) => status === 429);
    expect([compared.length, refused.length]).toEqual([5, 195]);
    expect(refused.every(({ body }) => body.reason === 'rate_limited')).toBe(true);
    expect(Math.min(...refused.map(secondsOf))).toBeGreaterThan(0);
    expect(Math.max(...refused.map(secondsOf))).toBeLessThanOrEqual(60);
    for (const gateway of [first, second]) {
      const right = await ask(target, {}, { gateway });
      expect(outcomeOf(right)).toEqual([429, 'rate_limited']);
      for (const value of [target.named.family_name, target.named.birth_date, 'p-1']) {
        expect(right.text).not.toContain(value);
      }
    }
    const texts = await Promise.all([first, second].map(({ deps }) => deps.metrics.metrics()));
    const counted = (outcome: string) =>
      texts
        .map((text) =>
          new RegExp(`^crossward_patient_wrong_names_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`, 'm').exec(text),
        )
        .reduce((sum, found) => sum + Number(found?.[1] ?? 0), 0);
    expect([counted('mismatch'), counted('refused')]).toEqual([5, 197]);
  });

  test('hold back no other patient, client or EHR', async () => {
    await guessFive();
    expect((await ask(target)).status).toBe(429);
    expect((await ask(other)).status).toBe(200);
    expect((await ask(elsewhere, {}, { careUnit: sodermalm })).status).toBe(200);
    expect((await ask(target, {}, { client: 'patients:write' })).status).toBe(200);
  });

  test('start a longer pause each time, after which the right name is found and resets nothing', async () => {
    await guessFive();
    await endPause();
    expect(await ask(target)).toMatchObject({ status: 200, body: { id: 'emr_id:p-1' } });
    expect((await ask(target, wrong)).status).toBe(409);
    const refused = await ask(target);
    expect(secondsOf(refused)).toBeGreaterThan(60);
    expect(secondsOf(refused)).toBeLessThanOrEqual(120);
    await rowsOf(first, 'UPDATE failed_sign_ins SET failures = 200, paused_until = clock_timestamp()');
    expect((await ask(target, wrong)).status).toBe(409);
    const last = secondsOf(await ask(target));
    expect(last).toBeGreaterThan(3000);
    expect(last).toBeLessThanOrEqual(3600);
  });

  test('are forgotten after a day', async () => {
    await guessFive();
    await rowsOf(
      first,
      "UPDATE failed_sign_ins SET paused_until = clock_timestamp(), last_failed_at = now() - interval '25 hours'",
    );
    await guessFive();
    expect((await ask(target)).status).toBe(429);
  });

  test('count once for a key, whose retries get the first answer, and a refused request can be sent again', async () => {
    const repeated = { headers: { 'idempotency-key': randomUUID() } };
    for (let turn = 0; turn < 8; turn++) expect((await ask(target, wrong, repeated)).status).toBe(409);
    expect((await ask(target)).status).toBe(200);
    for (let turn = 0; turn < 4; turn++) expect((await ask(target, wrong)).status).toBe(409);
    expect((await ask(target, wrong, repeated)).status).toBe(409);
    const later = { headers: { 'idempotency-key': randomUUID() } };
    expect((await ask(target, {}, later)).status).toBe(429);
    await endPause();
    expect((await ask(target, {}, later)).status).toBe(200);
  });

  test('are counted over FHIR, too', async () => {
    const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
    const value = target.number.split(':')[1] ?? '';
    const face = fhirClient(first, oslo);
    const create = (family: string) => {
      const name = [{ family, given: ['Any'] }];
      const body = {
        resourceType: 'Patient',
        identifier: [{ system, value }],
        name,
        birthDate: target.named.birth_date,
      };
      return face.post<object>('/Patient', body, { 'if-none-exist': `identifier=${system}|${value}` });
    };
    for (let turn = 0; turn < 5; turn++) expect((await create(`Navn${'abcde'.charAt(turn)}`)).status).toBe(409);
    const refused = await create(target.named.family_name);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await ask(target)).status).toBe(429);
  });
});

describe('without patients:read', () => {
  const nothing = { phone: null, email: null, address: null };

  test('a patient who is found is shown without contact details', async () => {
    const { status, body, text } = await ask(target, {}, { client: 'patients:write' });
    expect([status, body]).toEqual([200, { ...target.record, ...nothing }]);
    const { phone, email } = target.record;
    for (const value of [phone, email]) expect(text).not.toContain(value);
    expect((await ask(target)).body).toEqual(target.record);
  });

  test('neither is one who is created, nor in a replay', async () => {
    const contact = { phone: '+4700000900', email: 'ny@patients.example' };
    const added = { number: 'no_personal_number:15859000107', named: { ...target.named, family_name: 'Prøvestad' } };
    const once = { headers: { 'idempotency-key': randomUUID() }, client: 'patients:write' } as const;
    const created = await ask({ ...target, ...added }, contact, once);
    expect(created).toMatchObject({ status: 201, body: nothing });
    expect(await ask({ ...target, ...added }, contact, once)).toMatchObject({ status: 201, body: created.body });
    expect((await ask({ ...target, ...added })).body).toMatchObject(contact);
  });

  test.each([
    ['system/Patient.c', false],
    ['system/Patient.crs', true],
    ['system/Patient.c system/Appointment.rs', false],
  ])('a Patient over FHIR is shown with the token %s: contact details %s', async (scope, isShown) => {
    const assertion = await signAssertion('registry', key);
    const { access_token } = (await requestToken(first, assertion, { scope })).body;
    const system = 'urn:oid:2.16.578.1.12.4.1.4.1';
    const value = target.number.split(':')[1] ?? '';
    const { family_name: family, birth_date: birthDate } = target.named;
    const { status, body } = await first.request<Record<string, unknown>>('POST', `${oslo}/fhir-r4/Patient`, {
      client: null,
      body: { resourceType: 'Patient', identifier: [{ system, value }], name: [{ family, given: ['Any'] }], birthDate },
      headers: {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/fhir+json',
        'if-none-exist': `identifier=${system}|${value}`,
      },
    });
    expect([status, body.id]).toEqual([200, 'p-1']);
    expect([body.telecom !== undefined, body.address !== undefined]).toEqual([isShown, isShown]);
  });
});
