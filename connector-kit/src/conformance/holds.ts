import { setTimeout as sleep } from 'node:timers/promises';
import type { Connector } from '../connector.ts';
import type { Appointment } from '../records.ts';
import { capability, Failure } from './check.ts';
import { expectRejection, expectSame, expectThat } from './expect.ts';
import { book, change, creation, freeSlot, isFree, mustRead } from './steps.ts';
import type { Subject } from './subject.ts';

type Slot = Awaited<ReturnType<typeof freeSlot>>;

const hour = 60 * 60 * 1000;
/** As short as that of a code. A connector that takes the machine's clock for the gateway's ends the hold at another time. */
const fiveMinutes = 5 * 60 * 1000;
/** Long enough to create the hold before it expires, short enough to wait for. */
const brief = 2_500;
const longestWaitMs = 10_000;

export const holdKinds = ['create', 'confirm', 'extend', 'release'] as const;

/** Whether the connector claims all changes that holds need. */
export function claimsHolds({ capabilities }: Connector): boolean {
  return holdKinds.every((kind) => capabilities.changes.includes(kind));
}

/** A whole second, this long from now by the clock that the connector was given. */
function inTime({ now = () => new Date() }: Subject, milliseconds: number): Date {
  return new Date(Math.ceil((now().getTime() + milliseconds) / 1000) * 1000);
}

/** A connector may have to estimate the EHR's clock, from responses that show whole seconds. */
function expectNear(heldUntil: Date | null, asked: Date, what: string): void {
  const off = Math.abs((heldUntil?.getTime() ?? 0) - asked.getTime());
  expectThat(off < 60_000, `${what} is missing or differs from the requested time`);
}

async function hold(subject: Subject, slot: Slot, milliseconds: number): Promise<Appointment> {
  const holdUntil = inTime(subject, milliseconds);
  return change(subject, await creation(subject, slot, { holdUntil, comment: 'held' }));
}

/** Creates a hold and waits until it has expired by the EHR's clock. */
async function expired(subject: Subject, slot: Slot): Promise<Appointment> {
  const held = await hold(subject, slot, brief);
  const deadline = Date.now() + longestWaitMs;
  for (;;) {
    const now = await mustRead(subject, held.id);
    if (now.state === 'cancelled') return now;
    if (Date.now() > deadline) {
      const late = (longestWaitMs - brief) / 1000;
      throw new Failure(`A hold is still ${now.state} ${late} seconds after it expired`);
    }
    await sleep(250);
  }
}

export const holds = capability('holds', claimsHolds, {
  'a hold makes its time unavailable to others': async (subject) => {
    const slot = await freeSlot(subject);
    const held = await hold(subject, slot, fiveMinutes);
    for (const { state, heldUntil } of [held, await mustRead(subject, held.id)]) {
      expectSame(state, 'held', 'State of a hold');
      expectNear(heldUntil, inTime(subject, fiveMinutes), 'heldUntil of a hold');
    }
    expectThat(!(await isFree(subject, slot)), 'A held time is listed as free');
    await expectRejection(book(subject, { slot }), 'time_slot_unavailable', 'Booking a held time');
  },

  'confirming a hold books it': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await hold(subject, slot, hour);
    for (const round of ['first', 'second']) {
      const booked = await change(subject, { kind: 'confirm', appointmentId: id });
      expectSame([booked.id, booked.state, booked.heldUntil], [id, 'booked', null], `The ${round} confirmation`);
    }
    const now = await mustRead(subject, id);
    expectSame([now.state, now.start, now.comment], ['booked', slot.start, 'held'], 'A confirmed hold, read again');
  },

  'extending a hold changes its expiry time': async (subject) => {
    const { id } = await hold(subject, await freeSlot(subject), hour);
    const holdUntil = inTime(subject, 2 * hour);
    await change(subject, { kind: 'extend', appointmentId: id, holdUntil });
    expectNear((await mustRead(subject, id)).heldUntil, holdUntil, 'heldUntil after extending');
  },

  'releasing a hold cancels it and frees its time': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await hold(subject, slot, hour);
    const released = await change(subject, { kind: 'release', appointmentId: id, comment: 'why' });
    expectSame([released.state, released.comment], ['cancelled', 'why'], 'State and comment after releasing');
    expectThat(await isFree(subject, slot), 'The time of a released hold is not free');
    const again = await change(subject, { kind: 'release', appointmentId: id, comment: 'again' });
    expectSame([again.state, again.comment], ['cancelled', 'why'], 'State and comment when released twice');
    const late = change(subject, { kind: 'extend', appointmentId: id, holdUntil: inTime(subject, hour) });
    await expectRejection(late, 'appointment_not_held', 'Extending a released hold');
  },

  'rejects updating a hold, and extending or releasing a booking': async (subject) => {
    const held = await hold(subject, await freeSlot(subject), hour);
    if (subject.connector.capabilities.changes.includes('update')) {
      const update = change(subject, { kind: 'update', appointmentId: held.id, comment: 'x' });
      await expectRejection(update, 'appointment_pending', 'Updating a hold');
    }
    const booked = await book(subject);
    const release = change(subject, { kind: 'release', appointmentId: booked.id });
    await expectRejection(release, 'appointment_not_held', 'Releasing a booking');
    const extend = change(subject, {
      kind: 'extend',
      appointmentId: booked.id,
      holdUntil: inTime(subject, hour),
    });
    await expectRejection(extend, 'appointment_not_held', 'Extending a booking');
    expectSame((await mustRead(subject, booked.id)).state, 'booked', 'State of a booking after a rejected release');
  },

  'an expired hold frees its time slot': async (subject) => {
    const slot = await freeSlot(subject);
    const { id, heldUntil } = await expired(subject, slot);
    expectSame(heldUntil, null, 'heldUntil of an expired hold');
    expectThat(await isFree(subject, slot), 'The time of an expired hold is not free');
    const next = await book(subject, { slot });
    expectSame(next.state, 'booked', 'State of a booking over an expired hold');
    const late = change(subject, { kind: 'extend', appointmentId: id, holdUntil: inTime(subject, hour) });
    await expectRejection(late, 'appointment_not_held', 'Extending an expired hold');
    const confirm = change(subject, { kind: 'confirm', appointmentId: id });
    await expectRejection(confirm, 'time_slot_unavailable', 'Confirming an expired hold whose time is booked');
    expectSame((await mustRead(subject, next.id)).state, 'booked', 'State of the booking made after the hold expired');
  },

  'confirming an expired hold books it or changes nothing': async (subject) => {
    const slot = await freeSlot(subject);
    const { id } = await expired(subject, slot);
    const [outcome] = await Promise.allSettled([change(subject, { kind: 'confirm', appointmentId: id })]);
    const now = await mustRead(subject, id);
    if (outcome.status === 'fulfilled') {
      expectSame(now.state, 'booked', 'State after a successful confirmation');
      expectThat(!(await isFree(subject, slot)), 'The time of a confirmed hold is free');
    } else {
      await expectRejection(Promise.reject(outcome.reason), 'time_slot_unavailable', 'Confirming an expired hold');
      expectSame(now.state, 'cancelled', 'State after a rejected confirmation');
    }
  },
});
