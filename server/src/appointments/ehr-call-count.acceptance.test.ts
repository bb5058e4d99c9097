/** @module-tag any-database */
import type { Connector, ConnectorOperation } from '@crossward/connector-kit';
import { afterAll, expect, test } from 'vitest';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  bookEach,
  bookSome,
  consecutiveSlots,
  freeSlots,
  idsIn,
  oslo,
  riverside,
} from '../../../test/requests/bookings.ts';
import { type AppointmentsResponse, careUnitOf } from '../../../test/requests/codes.ts';

const calls: ConnectorOperation[] = [];

/** Records the calls to the EHR. */
function counting(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, property) {
      const value: unknown = target[property as keyof Connector];
      if (typeof value !== 'function') return value;
      return (...input: unknown[]) => {
        calls.push(property as ConnectorOperation);
        return value(...input);
      };
    },
  });
}

const gateway = await startGateway({ connectors: [wrapConnector(counting)] });
afterAll(() => gateway.close());

/** The number of calls of this connector function during a request. */
async function count(operation: ConnectorOperation, request: () => Promise<AppointmentsResponse>): Promise<number> {
  calls.length = 0;
  const { status, text } = await request();
  expect({ status, text }).toMatchObject({ status: 200 });
  return calls.filter((it) => it === operation).length;
}

test('a bulk move searches for free slots once', async () => {
  const { changeMany } = careUnitOf(gateway, oslo);
  const others = await freeSlots(gateway, { resourceId: 'r-2' });
  const slots = (await freeSlots(gateway)).filter(({ start }) => others.some((other) => other.start === start));
  const ids = idsIn(await bookEach(gateway, slots.slice(0, 12)));
  const move = { resource_id: 'r-2' };
  // The dry run searches once to plan, and once to check that the EHR has the time free.
  expect(await count('listTimeSlots', () => changeMany(ids, move, '?dry_run=true'))).toBe(2);
  expect(await count('listTimeSlots', () => changeMany(ids, move))).toBe(1);
});

test('a dry run of a reschedule searches for free slots twice, however many appointments it would create', async () => {
  const run = await consecutiveSlots(gateway, 5, { resourceId: 'r-3' });
  const [mine] = await bookEach(gateway, run.slice(0, 1));
  const range = { start: run[0]?.start, end: run[4]?.end };
  const reschedule = () => careUnitOf(gateway, oslo).changeMany([mine?.id ?? ''], range, '?dry_run=true');
  expect(await count('listTimeSlots', reschedule)).toBe(2);
});

test('a bulk two-step cancellation reads each patient once', async () => {
  const ids: string[] = [];
  for (const patientId of ['p-3', 'p-4']) {
    ids.push(...idsIn(await bookSome(gateway, 4, { careUnit: riverside, patientId })));
  }
  const cancel = () => careUnitOf(gateway, riverside).changeMany(ids, { status: 'cancelled' });
  expect(await count('findPatient', cancel)).toBe(2);
});
