/** @module-tag any-database */
import type { PatientDetails, TimeSlotQuery } from '@crossward/connector-kit';
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { withoutHolds } from './ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from './ehrs/other-ehrs.ts';
import { withPassingPatients } from './ehrs/passing-ehr.ts';
import { startGateway } from './gateway/gateway.ts';
import { type Appointment, creationBody, type Slot, sodermalm } from './requests/bookings.ts';
import { careUnitOf, codeFor, eventually, runBackgroundJobs } from './requests/codes.ts';
import { everyRow } from './requests/every-row.ts';
import { startReceiver, webhooksOf, withQuickWebhooks } from './requests/webhook-receiver.ts';

const seen = {
  patients: [] as string[],
  details: [] as (PatientDetails | undefined)[],
  searches: [] as TimeSlotQuery[],
};
let refusal: ConnectorError | undefined;
const [booking, drafting] = [careUnitPath('passing', 'sodermalm'), careUnitPath('drafting', 'sodermalm')];

const gateway = await startGateway({
  logLevel: 'trace',
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'drafting') {
        const needs = { patientDetails: 'required', slotsByPatient: 'required' } as const;
        return withPassingPatients(withoutHolds(connector), seen, needs);
      }
      if (emr !== 'passing') return connector;
      const passing = withPassingPatients(connector, seen, { slotsByPatient: 'optional' });
      return {
        ...passing,
        async changeAppointments(write) {
          if (refusal) throw refusal;
          return (await passing.changeAppointments?.(write)) ?? [];
        },
      };
    }),
  ],
  configure: (demo) =>
    withQuickWebhooks(
      [
        { id: 'passing', like: 'sandbox-se', policies: { booking_confirmation: 'none' as const } },
        { id: 'drafting', like: 'sandbox-se', policies: {} },
      ].reduce(withEhr, demo),
    ),
});
const receiver = await startReceiver();
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const number = '197010632391';
const typed = `se_personal_number:${number}`;
const details = {
  given_name: 'Kanarifågel',
  family_name: 'Kanarigren',
  phone: '+46701740987',
  email: 'kanari.gren@example.org',
};
/** As anybody may write the number. Base64 of it would be in a cursor that is not encrypted. */
const canaries = [
  number,
  '701063-2391',
  '7010632391',
  '19701063-2391',
  ...Object.values(details),
  ...[0, 1, 2].map((pad) =>
    Buffer.from(' '.repeat(pad) + number)
      .toString('base64')
      .slice(4, -4),
  ),
  Buffer.from(number).toString('hex'),
];

test('the number and the details of a patient who passes through are in no log, metric, response, event or table', async () => {
  const shown: string[] = [];
  const send: typeof gateway.request = async (method, path, options) => {
    const response = await gateway.request(method, path, options);
    shown.push(`${method} ${response.status} ${JSON.stringify(response.headers)} ${response.text}`);
    return response as never;
  };
  await webhooksOf(gateway).create(receiver.url);
  const day = { start: '2031-03-17T08:00:00', end: '2031-03-18T00:00:00' };
  const slotsOf = async (careUnit: string) => {
    const query = new URLSearchParams({
      ...day,
      resource_id: 'r-1',
      healthcare_service_id: 'consultation',
      limit: '4',
    });
    const path = `${careUnit}/timeslots?${query}&patient_id=${typed}`;
    const { body } = await send<{ timeslots: Slot[]; next_cursor: string }>('GET', path);
    await send('GET', `${path}&cursor=${body.next_cursor}`);
    return body.timeslots as [Slot, Slot, Slot, Slot];
  };

  // Books, moves, lists, cancels; in paths, queries and bodies.
  const [first, second, third, fourth] = await slotsOf(booking);
  const create = (slot: Slot, patient_id: string, more: object = {}) => ({
    body: { ...creationBody(slot), patient_id, ...more },
    headers: { 'idempotency-key': crypto.randomUUID() },
  });
  const request = create(first, typed);
  const { body: made } = await send<Appointment>('POST', `${booking}/appointments`, request);
  await send('POST', `${booking}/appointments`, request);
  await send('POST', `${booking}/appointments?dry_run=true`, create(second, '19701063-2391'));
  const one = `${booking}/appointments/${made.id}`;
  await send('PATCH', one, { body: { start: second.start, end: second.end } });
  await send('PATCH', `${booking}/appointments`, { body: { ids: [made.id], start: second.start, end: third.end } });
  for (const text of [typed, made.patient_id, `se_personal_number:${number.slice(2)}`, number]) {
    const { body } = await send<{ next_cursor: string }>('GET', `${booking}/appointments?patient_id=${text}&limit=1`);
    await send('GET', `${booking}/appointments?patient_id=${text}&limit=1&cursor=${body.next_cursor}`);
    await send('GET', `${booking}/patients/${text}`);
    await send('GET', `${booking}/patients/${text}/medical-notes?limit=1`);
    await send('GET', `${booking}/patients/${text}/${text}`);
    await send('POST', `${booking}/patients/${text}/medical-notes`, { body: { text: 'A note' } });
    await send('POST', `${booking}/patients/${text}/documents`, {
      body: { content_type: 'text/plain', content: Buffer.from('A document').toString('base64') },
    });
    await send('GET', `${booking}/appointments/${text}`);
  }
  await send('PATCH', one, { body: { status: 'cancelled' } });

  // The EHR refuses, and a faulty connector writes the number everywhere.
  for (const kind of ['time_slot_unavailable', 'rejected', 'unavailable', 'outcome_unknown'] as const) {
    refusal = new ConnectorError(kind, `The EHR refused ${typed}`, {
      publicDetail: `Patient 19701063-2391 (${number}) har redan en tid`,
      cause: new Error(`Refused ${typed}`),
    });
    await send('POST', `${booking}/appointments`, create(fourth, typed));
  }
  refusal = undefined;
  await runBackgroundJobs(gateway);

  // Drafts with details: wrong ones, a code, a second code, the confirmation.
  const [slot, other] = await slotsOf(drafting);
  await send('POST', `${drafting}/appointments`, create(slot, typed));
  await send(
    'POST',
    `${drafting}/appointments`,
    create(slot, typed, { patient_details: { ...details, phone: number } }),
  );
  const draft = await send<Appointment>(
    'POST',
    `${drafting}/appointments`,
    create(slot, typed, { patient_details: details }),
  );
  expect(draft.status).toBe(201);
  const open = await send<Appointment>(
    'POST',
    `${drafting}/appointments`,
    create(other, typed, { patient_details: details }),
  );
  await send('GET', `${drafting}/appointments/${draft.body.id}`);
  await send('GET', `${drafting}/appointments?patient_id=${typed}`);
  const { confirm } = careUnitOf(gateway, drafting);
  expect((await confirm(draft.body.id, await codeFor(gateway, draft.body.id))).status).toBe(200);
  await codeFor(gateway, open.body.id);
  await send('GET', '/api/events');
  await eventually(() => expect(receiver.received.length).toBeGreaterThan(4));

  expect(new Set(seen.patients)).toEqual(new Set([typed]));
  expect(seen.details.some((it) => it?.phone === details.phone)).toBe(true);
  const tables = await everyRow(gateway);
  expect(tables.some((row) => row.includes('confirmation_items'))).toBe(true);
  expectNoneIn('a log line', gateway.logLines);
  expectNoneIn('the metrics', (await gateway.request('GET', '/metrics')).text.split('\n'));
  expectNoneIn('a response', shown);
  expectNoneIn(
    'a delivery',
    receiver.received.map(({ body, headers }) => body + JSON.stringify(headers)),
  );
  expectNoneIn('the database', tables);
  // The other direction: the canaries are found where they are.
  const { text } = await gateway.request('GET', `${sodermalm}/patients/p-2`);
  expect(() => expectNoneIn('a patient', [text])).toThrow(/contains/);
});

function expectNoneIn(name: string, lines: readonly string[]): void {
  for (const line of lines) {
    const found = canaries.find((it) => line.toLowerCase().includes(it.toLowerCase()));
    if (found !== undefined) throw new Error(`${name} contains ${found}: ${line.slice(0, 500)}`);
  }
}
