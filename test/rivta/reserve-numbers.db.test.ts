import { afterAll, beforeEach, expect, test } from 'vitest';
import { backdateWrites, eventually, runBackgroundJobs } from '../requests/codes.ts';
import { everyRow } from '../requests/every-row.ts';
import { newKey } from '../requests/idempotency-keys.ts';
import { type Shown, startRegion, unit } from './region.ts';

const region = await startRegion();
const { fake, gateway, bodyOf } = region;
afterAll(region.close);
beforeEach(region.restore);

test.each([
  ['with a letter', '19640823T323', ['19640823t323', '19640823-T323']],
  ['of Region Stockholm', '991981000010', ['99198100-0010']],
  ['of Carelink', '198108340053', ['19810834-0053']],
])('a reserve number %s books, lists and cancels, and is nowhere', async (_, number, spellings) => {
  const shown: string[] = [];
  const send: typeof gateway.request = async (method, path, options) => {
    const response = await gateway.request(method, path, options);
    shown.push(`${response.status} ${JSON.stringify(response.headers)} ${response.text}`);
    return response as never;
  };
  const typed = `se_personal_number:${number}`;
  const book = async (patient_id: string, key = newKey()) => {
    const body = { ...(await bodyOf()), patient_id };
    const again = () => send<Shown>('POST', `${unit}/appointments`, { body, headers: { 'idempotency-key': key } });
    return { first: await again(), again };
  };

  const { first: made } = await book(typed);
  expect(made.status, made.text).toBe(201);
  expect([...fake.calendar.bookings.values()].map(({ subject }) => subject)).toEqual([number]);
  for (const spelling of [number, ...spellings]) {
    const path = `${unit}/appointments?patient_id=se_personal_number:${spelling}`;
    const { body, text } = await send<{ appointments: Shown[] }>('GET', path);
    expect(body.appointments, text).toMatchObject([{ id: made.body.id, patient_id: made.body.patient_id }]);
  }
  const one = `${unit}/appointments/${encodeURIComponent(made.body.id)}`;
  expect((await send('PATCH', one, { body: { status: 'cancelled' } })).status).toBe(200);

  // In the wrong places, and in what the producer says.
  await send('GET', `${unit}/appointments/${number}`);
  await send('GET', `${unit}/patients/${typed}/${number}`, { headers: { 'x-request-id': number } });
  await send('GET', `${unit}/appointments?patient_id=nhs_number:${number}`);
  await send('POST', `${unit}/appointments`, { body: { patient_id: number, [number]: number } });
  const written = [number, ...spellings].join(', ');
  fake.behaviour.refusal = `Patienten ${written} har redan en tid.`;
  const { first: refused } = await book(typed);
  expect([refused.status, refused.body.detail]).toEqual([502, expect.stringContaining('har redan en tid.')]);
  fake.behaviour.refusal = undefined;
  fake.behaviour.info = `Patienten ${written} skall komma fastande.`;
  expect((await book(typed)).first.body.notice).toContain('fastande');
  fake.mishaps.set('MakeBooking', [{ fault: `VP004 No route for ${written}` }, { faultAfter: `VP009 ${written}` }]);
  expect((await book(typed)).first.status).toBe(502);
  const { first: lost, again } = await book(typed);
  expect([201, 504]).toContain(lost.status);
  await eventually(async () => {
    await backdateWrites(gateway);
    expect((await again()).status).toBe(201);
  });
  await runBackgroundJobs(gateway);

  const metrics = (await gateway.request('GET', '/metrics', { client: null })).text;
  const rows = await everyRow(gateway);
  expect(rows.length).toBeGreaterThan(10);
  const canaries = [number, ...spellings, number.slice(2), Buffer.from(number).toString('hex')];
  for (const text of [...gateway.logLines, metrics, ...shown, ...rows]) {
    const found = canaries.find((it) => text.toLowerCase().includes(it.toLowerCase()));
    expect(found && `${found} in ${text}`).toBeUndefined();
  }
});
