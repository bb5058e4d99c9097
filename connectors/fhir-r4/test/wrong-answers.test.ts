import { randomUUID } from 'node:crypto';
import type { EhrHttp, EhrRequest, EhrResponse } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test } from 'vitest';
import type { FakeOptions, SeenRequest } from '../fake/server.ts';
import type { FhirAppointment, FhirResource } from '../src/fhir.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

/** A connector behind a proxy that gives the answer to another request. `undefined`: the right answer. */
async function open(options: FakeOptions = {}, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ data: { days: 14 }, ...options });
  const direct = plainHttp();
  const proxy: { wrong: (request: EhrRequest) => Promise<EhrResponse | undefined> } = { wrong: async () => undefined };
  const http: EhrHttp = { ...direct, send: async (request) => (await proxy.wrong(request)) ?? direct.send(request) };
  const connector = await openConnector(settingsFor(server.url, settings), http as typeof direct);
  return { server, connector, direct, proxy };
}

const answer = (body: object, headers = {}): EhrResponse => ({ status: 200, headers, text: JSON.stringify(body) });
const bundle = (...resources: readonly object[]) => ({
  resourceType: 'Bundle',
  type: 'searchset',
  entry: resources.map((resource) => ({ resource, search: { mode: 'match' } })),
});
const byId = (value: string) => ({ type: 'emr_id', value }) as const;
const isRead = (path: string) => (request: EhrRequest) => new URL(request.url).pathname === path;

describe('a read that is answered with', () => {
  test.each([
    ['another patient', (other: FhirResource) => other],
    ['a patient without an id', ({ id: _, ...other }: FhirResource) => other],
  ])('%s is rejected, and nothing is booked', async (_, alter) => {
    const { server, connector, proxy } = await open();
    const [slot] = await freeSlots(connector, 1);
    const wanted = isRead('/Patient/p-3');
    proxy.wrong = async (it) => (wanted(it) ? answer(alter(server.store.get('Patient/p-5'))) : undefined);
    await expect(connector.findPatient?.(byId('p-3'))).rejects.toMatchObject({ kind: 'rejected' });
    const booking = write(connector, [{ ...creation(slot), patientId: 'p-3' }]);
    await expect(booking).rejects.toMatchObject({ kind: 'rejected' });
    expect(server.store.all('Appointment')).toEqual([]);
  });

  test('the replacement of another patient is rejected', async () => {
    const { server, connector, proxy } = await open();
    const link = [{ type: 'replaced-by', other: { reference: 'Patient/p-4' } }];
    server.store.save({ ...server.store.get('Patient/p-3'), link } as FhirResource);
    proxy.wrong = async (it) => (isRead('/Patient/p-4')(it) ? answer(server.store.get('Patient/p-5')) : undefined);
    await expect(connector.findPatient?.(byId('p-3'))).rejects.toMatchObject({ kind: 'rejected' });
  });

  test('a patient without an id to a search by number is rejected', async () => {
    const { server, connector, proxy } = await open();
    const { id: _, ...patient } = server.store.get('Patient/p-1');
    proxy.wrong = async (it) => (isRead('/Patient/_search')(it) ? answer(bundle(patient)) : undefined);
    const search = connector.findPatient?.({ type: 'se_personal_number', value: '191212121212' });
    await expect(search).rejects.toMatchObject({ kind: 'rejected' });
  });

  test.each([1, 2])('another appointment is rejected, of %i', async (count) => {
    const { server, connector, proxy } = await open({ includesSlots: false });
    const slots = await freeSlots(connector, 3);
    const made = (await Promise.all(slots.map((slot) => write(connector, [creation(slot)])))).flat();
    const [other, ...asked] = made.map(({ id }) => id);
    const stored = server.store.get(`Appointment/${other}`);
    proxy.wrong = async ({ method, url }) => {
      const { pathname, searchParams } = new URL(url);
      if (method !== 'GET' || !pathname.startsWith('/Appointment')) return undefined;
      return answer(searchParams.has('_id') ? bundle(stored) : stored);
    };
    const found = connector.findAppointments?.(north, asked.slice(0, count));
    await expect(found).rejects.toMatchObject({ kind: 'rejected' });
  });
});

const modes: readonly (readonly [string, FakeOptions, Partial<FhirSettings>])[] = [
  ['in `transaction`', {}, {}],
  ['in `slot_claim`', { transactions: 'none' }, {}],
  [
    'in `create`',
    { transactions: 'none', plainWrites: false, checksAppointments: true },
    { booking: { mode: 'create', operation_lookup: true } },
  ],
];

const isWrite = ({ method, url }: EhrRequest) => method !== 'GET' && !url.endsWith('/_search');

const isCreate = ({ method, path }: SeenRequest) => method === 'POST' && path === '/Appointment';

describe.each(modes)('a write %s that is answered with the result of another one', (_, options, settings) => {
  /** Lets every request through, keeps the answers to writes, and gives the n-th write the answer to an earlier one. */
  async function prepared() {
    const opened = await open(options, settings);
    const { connector, direct, proxy } = opened;
    const [first, second] = await freeSlots(connector, 2);
    const answers = new Map<string, EhrResponse>();
    const kindOf = ({ method, url }: EhrRequest) => `${method} ${new URL(url).pathname.split('/')[1]}`;
    proxy.wrong = async (request) => {
      if (!isWrite(request)) return undefined;
      const response = await direct.send(request);
      answers.set(kindOf(request), response);
      return response;
    };
    const [other] = await write(connector, [{ ...creation(first), patientId: 'p-5' }]);
    const confuse = (isSent: boolean) => {
      let isOver = false;
      proxy.wrong = async (request) => {
        const wrong = answers.get(kindOf(request));
        // Not a claim of a Slot.
        if (isOver || !isWrite(request) || !wrong || kindOf(request).endsWith(' Slot')) return undefined;
        isOver = true;
        if (isSent) await direct.send(request);
        return wrong;
      };
    };
    return { ...opened, slot: second, other, confuse };
  }

  test.each([true, false])('tells its own booking, if the request was performed: %s', async (isSent) => {
    const { server, connector, slot, other, confuse } = await prepared();
    confuse(isSent);
    const operationId = randomUUID();
    const made = await write(connector, [{ ...creation(slot), patientId: 'p-3' }], operationId).catch(
      (error: unknown) => {
        expect(error).toMatchObject({ kind: 'outcome_unknown' });
        return write(connector, [{ ...creation(slot), patientId: 'p-3' }], operationId);
      },
    );
    expect(made).toMatchObject([{ patientId: 'p-3', state: 'booked' }]);
    expect(made[0]?.id).not.toBe(other?.id);
    expect(server.store.all('Appointment')).toHaveLength(2);
  });

  test.each([true, false])('tells its own cancellation, if the request was performed: %s', async (isSent) => {
    const { server, connector, direct, proxy, slot, other, confuse } = await prepared();
    const [mine] = await write(connector, [{ ...creation(slot), patientId: 'p-3' }]);
    const id = mine?.id ?? '';
    const change = (appointmentId: string) => [{ kind: 'cancel', appointmentId }] as const;
    await write(connector, change(other?.id ?? ''));
    confuse(isSent);
    const operationId = randomUUID();
    const ended = await write(connector, change(id), operationId).catch((error: unknown) => {
      expect(error).toMatchObject({ kind: 'outcome_unknown' });
      return write(connector, change(id), operationId);
    });
    expect(ended).toMatchObject([{ id, patientId: 'p-3', state: 'cancelled' }]);
    expect((server.store.get(`Appointment/${id}`) as FhirAppointment).status).toBe('cancelled');
    proxy.wrong = async (request) => direct.send(request);
  });
});

test('the result of a creation that names another resource in `Location` is read back', async () => {
  const { server, connector, direct, proxy } = await open(
    { transactions: 'none', plainWrites: false, checksAppointments: true },
    { booking: { mode: 'create' } },
  );
  const [slot] = await freeSlots(connector, 1);
  proxy.wrong = async (request) => {
    if (!isWrite(request)) return undefined;
    const response = await direct.send(request);
    return { ...response, headers: { ...response.headers, location: 'http://ehr.example/Appointment/other' } };
  };
  server.seen.splice(0);
  const [made] = await write(connector, [creation(slot)]);
  expect(server.store.all('Appointment').map(({ id }) => id)).toEqual([made?.id]);
  const createdAt = server.seen.findIndex(isCreate);
  expect(server.seen.slice(createdAt + 1).some(({ path }) => path === '/Appointment')).toBe(true);
});
