import { randomUUID } from 'node:crypto';
import { type AppointmentChange, type ChangeKind, type ConnectorOperation, changeKinds } from '../connector.ts';
import { capability, NotChecked, NotClaimed } from './check.ts';
import { expectRefusal, expectSame, expectThat, facts, given, operation } from './expect.ts';
import { claimsHolds, holdKinds } from './holds.ts';
import { operations } from './operations.ts';
import { book, change, creation, freeSlot, mustRead, read, takers } from './scene.ts';
import type { Subject } from './subject.ts';

const codeOperations = ['requestBooking', 'requestCancellation', 'resendCode', 'confirmCode'] as const;

/** A change of this kind, to an appointment of our own where one can be made. */
async function example(subject: Subject, kind: Exclude<ChangeKind, 'create'>): Promise<AppointmentChange> {
  const appointmentId = subject.connector.capabilities.changes.includes('create')
    ? (await book(subject)).id
    : 'no-such-appointment';
  if (kind === 'extend') return { kind, appointmentId, holdUntil: new Date(Date.now() + 60 * 60 * 1000) };
  return kind === 'confirm' ? { kind, appointmentId } : { kind, appointmentId, comment: 'changed' };
}

/** What the connector does not claim, it does not do. */
export const unclaimed = capability('unclaimed', () => true, {
  'claims do not contradict each other': async ({ connector }) => {
    const {
      changes,
      patientIdentifierTypes,
      resourceIdentifierTypes,
      sendsCodes,
      transactions,
      changesPerTransaction,
    } = connector.capabilities;
    expectThat(patientIdentifierTypes.includes('emr_id'), 'emr_id is not among the identifier types of patients');
    expectThat(resourceIdentifierTypes.includes('emr_id'), 'emr_id is not among the identifier types of resources');
    expectSame(changes.length > 0, connector.changeAppointments !== undefined, 'Whether it claims changes it can make');
    const some = holdKinds.some((kind) => kind !== 'create' && changes.includes(kind));
    expectThat(!some || claimsHolds(connector), 'confirm, extend and release are claimed together, with create');
    expectThat(!transactions || changes.length > 0, 'It claims transactions, but no change');
    const isSome = transactions && Number(changesPerTransaction) >= 3;
    expectThat(changesPerTransaction === undefined || isSome, 'Three changes or more, in transactions, are a limit');
    for (const name of codeOperations) {
      expectSame(connector[name] !== undefined, sendsCodes, `It has ${name}, and claims to send codes`);
    }
  },

  'operations that are left out are unsupported': async ({ connector, askGateway }) => {
    const missing = operations.filter((name) => connector[name] === undefined);
    if (missing.length === 0) throw new NotClaimed('no operation is left out');
    const ask = given(askGateway, 'there is no gateway before the connector in this run');
    for (const name of missing) await expectUnsupported(ask, name);
  },

  'changes that are left out are unsupported and change nothing': async (subject) => {
    const { connector } = subject;
    const missing = changeKinds.filter((kind) => !connector.capabilities.changes.includes(kind));
    if (missing.length === 0) throw new NotClaimed('no change is left out');
    if (!connector.changeAppointments) throw new NotClaimed('the connector changes nothing at all');
    for (const kind of missing) {
      if (kind === 'create') {
        const slot = await freeSlot(subject);
        const refused = change(subject, await creation(subject, slot));
        await expectRefusal(refused, 'unsupported', 'A booking, which is not claimed');
        expectSame((await takers(subject, slot)).length, 0, 'Appointments made by a booking that is not claimed');
        continue;
      }
      const what = await example(subject, kind);
      const id = what.kind === 'create' ? '' : what.appointmentId;
      const before = await read(subject, id);
      await expectRefusal(change(subject, what), 'unsupported', `${kind}, which is not claimed`);
      if (before) expectSame(facts(await mustRead(subject, id)), facts(before), `An appointment after ${kind}`);
    }
  },

  'a hold is not booked where holds are left out': async (subject) => {
    const { connector } = subject;
    if (claimsHolds(connector)) throw new NotClaimed('holds are not left out');
    claimsCreate(subject);
    const slot = await freeSlot(subject);
    const holdUntil = new Date(Date.now() + 60 * 60 * 1000);
    const held = change(subject, await creation(subject, slot, { holdUntil }));
    await expectRefusal(held, 'unsupported', 'Holding a time, which is not claimed');
    expectSame((await takers(subject, slot)).length, 0, 'Appointments made by a hold that is not claimed');
  },

  'more changes at once than are claimed are not done in part': async (subject) => {
    const { connector } = subject;
    const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = connector.capabilities;
    const most = transactions ? changesPerTransaction : 1;
    if (!Number.isFinite(most)) throw new NotClaimed('any number of changes at once is claimed');
    claimsCreate(subject);
    const slot = await freeSlot(subject);
    const taken = await creation(subject, slot);
    const { careUnit } = subject;
    const refused = operation(
      connector,
      'changeAppointments',
    )({
      operationId: randomUUID(),
      careUnit,
      changes: Array.from({ length: most + 1 }, () => taken),
    });
    await expectRefusal(refused, ['unsupported', 'time_slot_unavailable'], 'One change more than is claimed');
    expectSame((await takers(subject, slot)).length, 0, 'Appointments left by more changes than are claimed');
  },
});

function claimsCreate({ connector }: Subject): void {
  if (!connector.capabilities.changes.includes('create')) throw new NotClaimed('the connector does not claim create');
}

async function expectUnsupported(ask: NonNullable<Subject['askGateway']>, name: ConnectorOperation): Promise<void> {
  const [outcome] = await Promise.allSettled([ask(name)]);
  if (outcome.status === 'rejected' && outcome.reason instanceof NotChecked) throw outcome.reason;
  const reason = outcome.status === 'rejected' ? (outcome.reason as { reason?: unknown }).reason : 'an answer';
  expectSame(reason, 'operation_unsupported', `What the gateway says when asked for ${name}`);
}
