import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectorError } from '@crossward/connector-kit';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findViolations } from './database/invariants.ts';
import { wrapConnector } from './ehrs/other-ehrs.ts';
import { type Gateway, startGateway } from './gateway/gateway.ts';
import {
  type Appointment,
  book,
  consecutiveSlots,
  creationBody,
  freeSlot,
  oslo,
  riverside,
  type Slot,
  sodermalm,
} from './requests/bookings.ts';
import {
  type AppointmentResponse,
  backdateCode,
  bookByCode,
  careUnitOf,
  codeFor,
  codeIn,
  confirmationOf,
  eventually,
  messagesAbout,
  rowsOf,
  runBackgroundJobs,
} from './requests/codes.ts';

let failuresLeft = 0;
let beforeNextExtension: (() => Promise<unknown>) | undefined;
/** Makes the write, then throws `outcome_unknown` while `failuresLeft` is positive. */
const losesResponses = wrapConnector((connector) => ({
  ...connector,
  async changeAppointments(write) {
    if (write.changes[0]?.kind === 'extend') {
      const meanwhile = beforeNextExtension;
      beforeNextExtension = undefined;
      await meanwhile?.();
    }
    const done = await connector.changeAppointments?.(write);
    if (failuresLeft > 0 && write.changes[0]?.kind !== 'release') {
      failuresLeft--;
      throw new ConnectorError('outcome_unknown', '?');
    }
    return done ?? [];
  },
}));

const gateway = await startGateway({ databaseKind: 'postgresql', connectors: [losesResponses] });
const other = await startGateway({ beside: gateway, connectors: [losesResponses] });
afterAll(async () => {
  await other.close();
  await gateway.close();
});
afterEach(() => eventually(async () => expect(await findViolations(gateway.database)).toEqual({})));

const inOslo = careUnitOf(gateway, oslo);
const inSodermalm = careUnitOf(gateway, sodermalm);
const inRiverside = careUnitOf(gateway, riverside);
const rounds = Array.from({ length: 8 }, (_, round) => round);

const outcome = ({ status, body }: AppointmentResponse) =>
  status < 300 ? `${status} ${body.status}` : `${status} ${body.reason}`;
const many = <Result>(count: number, run: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

/** Sends again, as the problem says, what waited for another request for longer than a request may. */
async function settled(send: () => Promise<AppointmentResponse>): Promise<AppointmentResponse> {
  for (;;) {
    const response = await send();
    if (response.body.reason !== 'idempotency_in_progress') return response;
    await sleep(20);
  }
}

async function held(): Promise<{ readonly it: Appointment; readonly code: string }> {
  const it = await book(gateway, { careUnit: sodermalm });
  return { it, code: await codeFor(gateway, it.id) };
}

async function expectOneMessage(id: string): Promise<void> {
  expect(await messagesAbout(gateway, id)).toHaveLength(1);
}

test('concurrent confirmations book once and all succeed', async () => {
  for (const _ of rounds) {
    const { it, code } = await held();
    const responses = await many(10, () => settled(() => inSodermalm.confirm(it.id, code)));
    expect(responses.map(outcome)).toEqual(responses.map(() => '200 booked'));
    expect(await inSodermalm.get(it.id)).toMatchObject({ status: 'booked', confirmation: null });
    const { length } = await rowsOf(gateway, 'SELECT 1 FROM sandbox.appointments WHERE id = $1', [it.id]);
    expect(length).toBe(1);
    await expectOneMessage(it.id);
  }
});

test('each of several concurrent incorrect codes counts as an attempt', async () => {
  const { it, code } = await held();
  const wrong = code === '000000' ? '111111' : '000000';
  const responses = await many(12, () => inSodermalm.confirm(it.id, wrong));
  const outcomes = responses.map(outcome).toSorted();
  expect(outcomes).toEqual([
    ...Array.from({ length: 5 }, () => '400 confirmation_code_incorrect'),
    ...Array.from({ length: 7 }, () => '409 confirmation_locked'),
  ]);
  const remaining = responses.flatMap(({ body }) => body.attempts_remaining ?? []);
  expect(remaining.toSorted()).toEqual([0, 1, 2, 3, 4]);
  expect(outcome(await inSodermalm.confirm(it.id, code))).toBe('409 confirmation_locked');
});

test('a confirmation concurrent with expiry either succeeds and books, or fails and does not', async () => {
  const seen = new Set<string>();
  // The last rounds leave enough time for a confirmation on any machine, the first round none.
  for (const round of [...rounds, ...rounds]) {
    const { it, code } = await held();
    const milliseconds = seen.size > 0 && round === rounds.length - 1 ? 20_000 : round * 6;
    const left = `clock_timestamp() + interval '${milliseconds} milliseconds'`;
    await rowsOf(gateway, `UPDATE sandbox.appointments SET held_until = ${left} WHERE id = $1`, [it.id]);
    await rowsOf(gateway, `UPDATE confirmations SET expires_at = ${left} WHERE id = $1`, [confirmationOf(it).id]);
    const [response] = await Promise.all([
      sleep(round * 4).then(() => inSodermalm.confirm(it.id, code)),
      ...[0, 10, 20, 30, 40].map((delay) => sleep(delay).then(() => runBackgroundJobs(gateway))),
    ]);
    const outcomes = outcome(response);
    expect(outcomes).toBeOneOf(['200 booked', '409 confirmation_expired']);
    seen.add(outcomes);
    const after = await inSodermalm.get(it.id);
    expect([outcomes, after.status]).toEqual([outcomes, outcomes === '200 booked' ? 'booked' : 'cancelled']);
  }
  expect(seen.size).toBeGreaterThan(1);
});

test('expiry does not override a confirmation accepted just before it', async () => {
  const { it, code } = await held();
  const id = confirmationOf(it).id;
  await rowsOf(
    gateway,
    `UPDATE confirmations SET expires_at = clock_timestamp() + interval '10 seconds' WHERE id = $1`,
    [id],
  );
  const decision = await gateway.database.pool.connect();
  const [{ pid } = { pid: 0 }] = (await decision.query<{ pid: number }>('SELECT pg_backend_pid() AS pid', [])).rows;
  await decision.query('BEGIN', []);
  // The wait below is longer than transactions of the gateway may be idle.
  await decision.query('SET LOCAL idle_in_transaction_session_timeout = 0', []);
  await decision.query('SELECT 1 FROM confirmations WHERE id = $1 FOR UPDATE', [id]);
  await decision.query(
    `UPDATE confirmations SET expires_at = clock_timestamp() + interval '10 minutes' WHERE id = $1`,
    [id],
  );
  // For all other requests the confirmation is expired.
  const isExpired = `SELECT 1 FROM confirmations WHERE id = $1 AND expires_at <= clock_timestamp()`;
  await eventually(async () => expect(await rowsOf(gateway, isExpired, [id])).toHaveLength(1));
  let isDone = false;
  const expiry = runBackgroundJobs(gateway).then(() => {
    isDone = true;
  });
  const isBlocked = 'SELECT 1 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
  await eventually(async () => expect(isDone || (await rowsOf(gateway, isBlocked, [pid])).length > 0).toBe(true));
  await decision.query('COMMIT', []);
  decision.release();
  await expiry;
  expect(outcome(await inSodermalm.confirm(it.id, code))).toBe('200 booked');
});

test('an appointment is cancelled if any cancellation concurrent with its confirmation succeeds', async () => {
  for (const round of rounds) {
    const { it, code } = await held();
    const [confirmed, ...cancelled] = await Promise.all([
      inSodermalm.confirm(it.id, code),
      ...Array.from({ length: 3 }, () => sleep(round * 2).then(() => inSodermalm.cancel(it.id))),
    ]);
    expect(outcome(confirmed)).toBeOneOf([
      '200 booked',
      '200 cancelled',
      '400 time_slot_unavailable',
      '409 confirmation_not_pending',
    ]);
    const outcomes = cancelled.map(outcome);
    for (const it of outcomes) expect(it).toBeOneOf(['200 cancelled', '409 confirmation_not_pending']);
    const isCancelled = outcomes.includes('200 cancelled');
    expect(isCancelled || outcome(confirmed) === '200 booked').toBe(true);
    expect((await inSodermalm.get(it.id)).status).toBe(isCancelled ? 'cancelled' : 'booked');
    await expectOneMessage(it.id);
  }
});

describe('two-step cancellations', () => {
  test('concurrent requests create one cancellation and one message', async () => {
    for (const _ of rounds) {
      const { id } = await book(gateway, { careUnit: riverside });
      const responses = await many(12, (index) => careUnitOf(index % 2 ? gateway : other, riverside).cancel(id));
      expect(responses.map(outcome)).toEqual(responses.map(() => '200 awaiting_confirmation'));
      const ids = new Set(responses.map(({ body }) => body.id));
      expect(ids.size).toBe(1);
      const [newId = ''] = ids;
      await expectOneMessage(newId);
      expect(await inRiverside.get(id)).toMatchObject({ status: 'booked', confirmation: null });
      const code = await codeFor(gateway, newId);
      const confirmed = await many(6, () => settled(() => inRiverside.confirm(newId, code)));
      expect(confirmed.map(outcome)).toEqual(confirmed.map(() => '200 cancelled'));
      expect((await inRiverside.get(id)).status).toBe('cancelled');
    }
  });

  test('concurrent bulk cancellations with shared appointments create one cancellation per appointment', async () => {
    for (const _ of rounds) {
      const [a, b, c] = [
        await book(gateway, { careUnit: riverside }),
        await book(gateway, { careUnit: riverside }),
        await book(gateway, { careUnit: riverside }),
      ].map(({ id }) => id) as [string, string, string];
      const responses = await Promise.all([
        inRiverside.changeMany([a, b], { status: 'cancelled' }),
        inRiverside.changeMany([c, b], { status: 'cancelled' }),
        inRiverside.changeMany([c, a], { status: 'cancelled' }),
      ]);
      const pairs = responses.flatMap(({ status, body }) => {
        expect(status).toBe(200);
        return body.appointments.map(({ id, replaces_id }) => `${replaces_id} ${id}`);
      });
      expect(new Set(pairs).size).toBe(3);
    }
  });
});

describe('moves', () => {
  test('two moves and a booking of one slot: exactly one succeeds', async () => {
    for (const _ of rounds) {
      const toMove = [await book(gateway), await book(gateway)];
      const target = await freeSlot(gateway);
      const responses = await Promise.all([
        ...toMove.map(({ id }) => inOslo.change(id, { start: target.start, end: target.end })),
        inOslo.create(creationBody(target)),
        careUnitOf(other, oslo).create(creationBody(target)),
      ]);
      const [won, ...rest] = responses.filter(({ status }) => status < 300);
      expect(rest).toEqual([]);
      for (const response of responses) {
        if (response !== won) expect(outcome(response)).toBe('400 time_slot_unavailable');
      }
      expect(won?.body.start).toBe(target.start);
      for (const before of toMove) {
        if (before.id !== won?.body.id) expect(await inOslo.get(before.id)).toEqual(before);
      }
    }
  });

  test('a bulk move concurrent with single moves makes all its changes or none', async () => {
    for (const _ of rounds) {
      const [first, second] = (await consecutiveSlots(gateway, 2, { resourceId: 'r-2' })) as [Slot, Slot];
      const ours = [await book(gateway, { slot: first }), await book(gateway, { slot: second })];
      const rival = await book(gateway, { resourceId: 'r-4' });
      const [together, alone, single] = await Promise.all([
        inOslo.changeMany(
          ours.map(({ id }) => id),
          { resource_id: 'r-3' },
        ),
        inOslo.change(rival.id, { start: second.start, end: second.end, resource_id: 'r-3' }),
        inOslo.change(ours[0]?.id ?? '', { comment: 'meanwhile' }),
      ]);
      expect(single.status).toBe(200);
      const hasMoved = together.status === 200;
      if (!hasMoved) expect(together.body.reason).toBe('time_slot_unavailable');
      expect(outcome(alone)).toBe(hasMoved ? '400 time_slot_unavailable' : '200 booked');
      const after = await inOslo.getAll(ours.map(({ id }) => id));
      const resource = hasMoved ? 'emr_id:r-3' : 'emr_id:r-2';
      expect(after.map(({ start, resource_id }) => [start, resource_id])).toEqual(
        ours.map(({ start }) => [start, resource]),
      );
      expect(after[0]?.comment).toBe('meanwhile');
      // Both resources are free again for the next round.
      for (const { id } of [...ours, rival]) await inOslo.cancel(id);
    }
  });

  test('a move of a whole range and a booking inside it: exactly one succeeds', async () => {
    for (const _ of rounds) {
      const run = await consecutiveSlots(gateway, 4, { resourceId: 'r-1' });
      const [first, second, third, last] = run as [Slot, Slot, Slot, Slot];
      const ours = [await book(gateway, { slot: first }), await book(gateway, { slot: second })];
      const [rescheduled, booked] = await Promise.all([
        inOslo.changeMany(
          ours.map(({ id }) => id),
          { start: second.start, end: last.end },
        ),
        inOslo.create(creationBody(third)),
      ]);
      expect([rescheduled.status, booked.status]).toBeOneOf([
        [200, 400],
        [400, 201],
      ]);
      const after = await inOslo.getAll(ours.map(({ id }) => id));
      if (rescheduled.status === 200) {
        expect(rescheduled.body.appointments.map(({ start }) => start)).toEqual(run.slice(1).map(({ start }) => start));
      } else {
        expect(rescheduled.body.reason).toBe('time_slot_unavailable');
        expect(after).toEqual(ours);
      }
    }
  });
});

test('the appointment is booked if a code is resent and the old code confirmed at the same time', async () => {
  for (const round of rounds) {
    const { it, code } = await held();
    await backdateCode(gateway, confirmationOf(it).id, 60);
    const [confirmed, resent] = await Promise.all([
      sleep(round).then(() => inSodermalm.confirm(it.id, code)),
      inSodermalm.resend(it.id),
    ]);
    if (resent.status !== 202) {
      expect(outcome(resent)).toBe('409 confirmation_not_pending');
      expect(outcome(confirmed)).toBe('200 booked');
      await expectOneMessage(it.id);
      continue;
    }
    const [newest] = await messagesAbout(gateway, it.id, 2);
    const isSame = codeIn(newest) === code;
    if (!isSame) expect(outcome(confirmed)).toBeOneOf(['400 confirmation_code_incorrect', '200 booked']);
    if (confirmed.status === 400) expect(outcome(await inSodermalm.confirm(it.id, codeIn(newest)))).toBe('200 booked');
    expect((await inSodermalm.get(it.id)).status).toBe('booked');
  }
});

describe('while a resend waits for the EHR to extend the hold', () => {
  async function resendWhile(it: Appointment, meanwhile: () => Promise<unknown>): Promise<AppointmentResponse> {
    await backdateCode(gateway, confirmationOf(it).id, 60);
    beforeNextExtension = meanwhile;
    const response = await inSodermalm.resend(it.id);
    expect(beforeNextExtension).toBeUndefined();
    return response;
  }

  test('a confirmation makes the resend fail with confirmation_not_pending', async () => {
    const { it, code } = await held();
    const response = await resendWhile(it, () => inSodermalm.confirm(it.id, code));
    expect(outcome(response)).toBe('409 confirmation_not_pending');
    expect((await inSodermalm.get(it.id)).status).toBe('booked');
    await expectOneMessage(it.id);
  });

  test('a cancellation makes the resend fail with confirmation_not_pending', async () => {
    const { it } = await held();
    const response = await resendWhile(it, () => inSodermalm.cancel(it.id));
    expect(outcome(response)).toBe('409 confirmation_not_pending');
    await expectOneMessage(it.id);
  });

  test('expiry makes the resend fail with confirmation_expired', async () => {
    const { it } = await held();
    const expire = async () => {
      const now = 'clock_timestamp()';
      await rowsOf(gateway, `UPDATE sandbox.appointments SET held_until = ${now} WHERE id = $1`, [it.id]);
      await rowsOf(gateway, `UPDATE confirmations SET expires_at = ${now} WHERE id = $1`, [confirmationOf(it).id]);
    };
    expect(outcome(await resendWhile(it, expire))).toBe('409 confirmation_expired');
    await expectOneMessage(it.id);
  });

  test('cancelling another appointment of the same code leaves a valid code for the rest', async () => {
    const slots = await consecutiveSlots(gateway, 3, { careUnit: sodermalm, resourceId: 'r-3' });
    const [first, , last] = slots as [Slot, Slot, Slot];
    const mine = await bookByCode(gateway, { slot: first });
    const { body } = await inSodermalm.changeMany([mine.id], { start: first.start, end: last.end });
    const [, one, another] = body.appointments as [Appointment, Appointment, Appointment];
    await messagesAbout(gateway, one.id);
    const response = await resendWhile(one, () => inSodermalm.cancel(another.id));
    expect(outcome(response)).toBe('202 awaiting_confirmation');
    const [executed] = await messagesAbout(gateway, one.id, 2);
    expect(outcome(await inSodermalm.confirm(one.id, codeIn(executed)))).toBe('200 booked');
    expect((await inSodermalm.get(another.id)).status).toBe('cancelled');
  });
});

describe('two gateways on one database', () => {
  const gateways = [gateway, other];
  const both = (index: number): Gateway => gateways[index % 2] as Gateway;

  function sendUnder(key: string, index: number, slot: Slot, careUnit = sodermalm): Promise<AppointmentResponse> {
    return both(index).request('POST', `${careUnit}/appointments`, {
      body: creationBody(slot),
      headers: { 'idempotency-key': key },
    });
  }

  /** Runs background jobs on both gateways during `work`. */
  async function withBackgroundJobs<Result>(work: () => Promise<Result>): Promise<Result> {
    let isDone = false;
    const runJobs = async (it: Gateway) => {
      while (!isDone) await runBackgroundJobs(it);
    };
    const jobs = gateways.map(runJobs);
    try {
      return await work();
    } finally {
      isDone = true;
      await Promise.all(jobs);
    }
  }

  test('execute requests with the same idempotency key once', async () => {
    await withBackgroundJobs(async () => {
      for (const round of rounds) {
        const slot = await freeSlot(gateway, { careUnit: sodermalm });
        const responses = await many(20, (index) => sendUnder(`once ${round}`, index, slot));
        const executed = responses.filter(({ status, headers }) => status === 201 && !headers['idempotency-replayed']);
        expect(executed).toHaveLength(1);
        for (const response of responses) {
          expect(outcome(response)).toBeOneOf(['201 awaiting_confirmation', '409 idempotency_in_progress']);
          if (response.status === 201) expect(response.text).toBe(executed[0]?.text);
        }
        await expectOneMessage(executed[0]?.body.id ?? '');
      }
    });
  });

  test.each([
    ['claim its key', 'INSERT', '500 internal_error'],
    ['store its response', 'UPDATE', '504 outcome_unknown'],
  ])('retry a request that could not %s', async (_, event, expected) => {
    const { start, end, resource_id, healthcare_service_id } = await book(gateway);
    const send = (index: number) =>
      sendUnder(`unsettled ${event}`, index, { start, end, resource_id, healthcare_service_id }, oslo);
    await rowsOf(
      gateway,
      `CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'Simulated failure'; END $$`,
    );
    await rowsOf(gateway, `CREATE TRIGGER fails BEFORE ${event} ON operations FOR EACH ROW EXECUTE FUNCTION fail()`);
    try {
      expect(outcome(await send(0))).toBe(expected);
    } finally {
      await rowsOf(gateway, 'DROP TRIGGER fails ON operations');
    }
    await eventually(async () => expect(outcome(await send(1))).toBe('400 time_slot_unavailable'));
  });

  test('book a slot once, and all confirmations with its code succeed', async () => {
    await withBackgroundJobs(async () => {
      for (const _ of rounds) {
        const slot = await freeSlot(gateway, { careUnit: sodermalm });
        const responses = await many(16, (index) => careUnitOf(both(index), sodermalm).create(creationBody(slot)));
        const won = responses.filter(({ status }) => status === 201);
        expect(won).toHaveLength(1);
        const id = won[0]?.body.id ?? '';
        const code = await codeFor(gateway, id);
        const confirmed = await many(8, (index) => settled(() => careUnitOf(both(index), sodermalm).confirm(id, code)));
        expect(confirmed.map(outcome)).toEqual(confirmed.map(() => '200 booked'));
      }
    });
  });

  test.each([
    ['a booking', oslo],
    ['a booking by code', sodermalm],
  ])('%s with an unknown outcome is completed by a retry on either gateway', async (_, careUnit) => {
    for (const round of rounds) {
      const slot = await freeSlot(gateway, { careUnit });
      const key = `lost ${careUnit} ${round}`;
      failuresLeft = 1;
      expect(outcome(await sendUnder(key, round, slot, careUnit))).toBe('504 outcome_unknown');
      const work = () => many(6, (index) => settled(() => sendUnder(key, index, slot, careUnit)));
      const responses = await (round % 2 ? withBackgroundJobs(work) : work());
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201]));
      const ids = new Set(responses.map(({ body }) => body.id));
      expect(ids.size).toBe(1);
      const [id = ''] = ids;
      expect(await careUnitOf(gateway, careUnit).get(id)).toMatchObject({ start: slot.start });
      if (careUnit === sodermalm) await expectOneMessage(id);
    }
  });
});
