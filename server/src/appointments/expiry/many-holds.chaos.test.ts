import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../../test/ehrs/faulty-ehr.ts';
import { withoutTransactions } from '../../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../../test/gateway/gateway.ts';
import { withQuickRecovery } from '../../../../test/gateway/recovery.ts';
import { book, freeSlots } from '../../../../test/requests/bookings.ts';
import { eventually, rowsOf } from '../../../../test/requests/codes.ts';

const turns = 10;
const emrs = ['at-once', 'no-transactions', 'slow'] as const;
type Emr = (typeof emrs)[number];

const ehrs = faultyEhrs();
/** The writes that each EHR received, and the highest number of concurrent releases. */
const callCounts = new Map<string, { finds: number; releases: number; atOnce: number; most: number }>();
/** The appointments whose release the EHR rejects. */
const unreleasable = new Set<string>();

function observed(connector: Connector, emr: string): Connector {
  return {
    ...connector,
    async findAppointments(...input) {
      countsOf(emr).finds += 1;
      return (await connector.findAppointments?.(...input)) ?? [];
    },
    async changeAppointments(write) {
      if (write.changes.some((it) => it.kind === 'release' && unreleasable.has(it.appointmentId))) {
        throw new ConnectorError('rejected', 'Simulated failure');
      }
      if (write.changes.every(({ kind }) => kind !== 'release'))
        return (await connector.changeAppointments?.(write)) ?? [];
      const counts = countsOf(emr);
      counts.releases += 1;
      counts.atOnce += 1;
      counts.most = Math.max(counts.most, counts.atOnce);
      if (emr === 'slow') await new Promise((resolve) => setTimeout(resolve, 50));
      return Promise.resolve(connector.changeAppointments?.(write) ?? []).finally(() => {
        counts.atOnce -= 1;
      });
    },
  };
}

function countsOf(emr: string) {
  const counts = callCounts.get(emr) ?? { finds: 0, releases: 0, atOnce: 0, most: 0 };
  callCounts.set(emr, counts);
  return counts;
}

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      const it = observed(ehrs.faulty(connector, emr), emr);
      return emr === 'at-once' ? it : withoutTransactions(it);
    }),
  ],
  configure(demo) {
    const more = emrs.reduce(
      (it, id) => withEhr(it, { id, like: 'sandbox-se', policies: {} }),
      // A call that times out would be repeated, and counted twice.
      withQuickRecovery(demo, { timeout_ms: 60_000 }),
    );
    const limits = (id: string) =>
      id === 'slow' ? { concurrency: 2, queue_timeout_ms: 200 } : { concurrency: turns, queue_timeout_ms: 60_000 };
    const withLimits = more.emrs.map((it) => ({ ...it, connection: { ...it.connection, ...limits(it.id) } }));
    return { ...more, emrs: withLimits };
  },
});
afterAll(() => gateway.close());

beforeEach(() => {
  ehrs.reset();
  unreleasable.clear();
});
/** Removes what earlier tests left behind. */
afterEach(async () => {
  await rowsOf(gateway, 'DELETE FROM operations');
  await rowsOf(gateway, `UPDATE confirmation_items SET state = 'expired'`);
  await rowsOf(gateway, `UPDATE sandbox.appointments SET state = 'cancelled', held_until = NULL`);
});

/** Books this many times. Each booking awaits a code. */
async function holds(emr: Emr, count: number): Promise<readonly string[]> {
  const careUnit = careUnitPath(emr, 'sodermalm');
  const slots = await freeSlots(gateway, { careUnit, limit: count });
  expect(slots).toHaveLength(count);
  const ids: string[] = [];
  for (const slot of slots) ids.push((await book(gateway, { careUnit, slot })).id);
  callCounts.clear();
  return ids;
}

/** Expires all codes at once. The holds in the EHR do not expire. */
async function expireHolds(emr: Emr): Promise<void> {
  await rowsOf(gateway, 'UPDATE confirmations SET expires_at = now() WHERE emr = $1', [emr]);
}

/** Waits until nothing is pending in the gateway and no hold is left in the EHR. */
async function expectAllReleased(emr: Emr): Promise<void> {
  await eventually(async () => expect(await heldOrBookedIn(emr)).toEqual([]));
  await eventually(async () => expect(await rowsOf(gateway, 'SELECT id FROM operations')).toEqual([]));
}

async function heldOrBookedIn(emr: Emr): Promise<readonly string[]> {
  const appointments = await gateway.ehr(emr).appointments();
  return appointments.filter(({ state }) => state !== 'cancelled').map(({ id }) => id);
}

async function bookedByStaff(emr: Emr, id: string): Promise<void> {
  await rowsOf(
    gateway,
    `UPDATE sandbox.appointments SET state = 'booked', held_until = NULL WHERE emr = $1 AND id = $2`,
    [emr, id],
  );
}

describe('a hundred expired holds are released', () => {
  test('with one call if the EHR has transactions', async () => {
    await holds('at-once', 100);
    await expireHolds('at-once');
    await expectAllReleased('at-once');
    expect(countsOf('at-once')).toMatchObject({ finds: 1, releases: 1 });
  });

  test('concurrently up to the limit of the EHR if it has none', async () => {
    await holds('no-transactions', 100);
    const gate = Promise.withResolvers<void>();
    ehrs.of('no-transactions').hang('changeAppointments', gate.promise);
    await expireHolds('no-transactions');
    await eventually(() => expect(ehrs.of('no-transactions').hanging).toBe(turns));
    gate.resolve();
    await expectAllReleased('no-transactions');
    expect(countsOf('no-transactions')).toMatchObject({ finds: 1, releases: 100, most: turns });
  });

  test('eventually if calls time out in the queue of a slow EHR', async () => {
    await holds('slow', 30);
    await expireHolds('slow');
    await expectAllReleased('slow');
  });
});

describe.each(['at-once', 'no-transactions'] as const)(
  '%s: one hold does not delay the release of the others',
  (emr) => {
    test('when staff book it just before its release: it stays booked', async () => {
      const ids = await holds(emr, 20);
      const mine = ids[7] ?? '';
      const gate = Promise.withResolvers<void>();
      ehrs.of(emr).hang('changeAppointments', gate.promise);
      await expireHolds(emr);
      await eventually(() => expect(ehrs.of(emr).hanging).toBeGreaterThan(0));
      await bookedByStaff(emr, mine);
      gate.resolve();
      await eventually(async () => expect(await heldOrBookedIn(emr)).toEqual([mine]));
      await eventually(async () => expect(await rowsOf(gateway, 'SELECT id FROM operations')).toEqual([]));
    });

    test('when the EHR rejects its release', async () => {
      const ids = await holds(emr, 20);
      const mine = ids[7] ?? '';
      unreleasable.add(mine);
      await expireHolds(emr);
      await eventually(async () => expect(await heldOrBookedIn(emr)).toEqual([mine]));
      unreleasable.clear();
      await rowsOf(gateway, 'UPDATE operations SET next_attempt_at = now()');
      await expectAllReleased(emr);
    });
  },
);
