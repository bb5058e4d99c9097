import { randomUUID } from 'node:crypto';
import { type AppointmentChange, type ChangeKind, type ConnectorOperation, changeKinds } from '../connector.ts';
import { operations } from '../operations.ts';
import { longestComment } from './appointments-create.ts';
import { type Claim, capability, claimed, NotChecked } from './check.ts';
import { expectRejection, expectSame, expectThat, facts, given, operation } from './expect.ts';
import { claimsHolds, holdKinds } from './holds.ts';
import { appointmentsAt, book, change, changes, creation, freeSlot, has, mustRead, not, read } from './steps.ts';
import type { Subject } from './subject.ts';

/** A change of this kind to a new appointment, or to an unknown one if nothing can be booked. */
async function example(subject: Subject, kind: Exclude<ChangeKind, 'create'>): Promise<AppointmentChange> {
  const appointmentId = subject.connector.capabilities.changes.includes('create')
    ? (await book(subject)).id
    : 'no-such-appointment';
  if (kind === 'extend') return { kind, appointmentId, holdUntil: new Date(Date.now() + 60 * 60 * 1000) };
  return kind === 'confirm' ? { kind, appointmentId } : { kind, appointmentId, comment: 'changed' };
}

const holdsTimes: Claim = ({ connector }) => claimsHolds(connector);

/** Without a limit, infinite. */
function mostChanges({ connector }: Subject): number {
  const { transactions, changesPerTransaction = Number.POSITIVE_INFINITY } = connector.capabilities;
  return transactions ? changesPerTransaction : 1;
}

const limitsWrites: Claim = (subject) => Number.isFinite(mostChanges(subject));

/** Checks that the connector rejects everything that it does not claim. */
export const unclaimed = capability('unclaimed', () => true, {
  'capabilities are consistent': async ({ connector }) => {
    const { changes, patientIdentifierTypes, resourceIdentifierTypes, transactions, changesPerTransaction, rebooks } =
      connector.capabilities;
    expectThat(patientIdentifierTypes.includes('emr_id'), 'emr_id is not among the identifier types of patients');
    expectThat(resourceIdentifierTypes.includes('emr_id'), 'emr_id is not among the identifier types of resources');
    expectSame(
      changes.length > 0,
      connector.changeAppointments !== undefined,
      'Whether changeAppointments exists exactly if changes are claimed',
    );
    const some = holdKinds.some((kind) => kind !== 'create' && changes.includes(kind));
    expectThat(!some || claimsHolds(connector), 'confirm, extend and release must be claimed together with create');
    const canRebook = changes.includes('create') && changes.includes('cancel');
    expectThat(!rebooks || canRebook, 'rebooks needs create and cancel');
    const canMove = changes.includes('update') && !rebooks;
    expectThat(!connector.capabilities.movesToNewId || canMove, 'movesToNewId needs update, and excludes rebooks');
    const { passesThrough, commentLength = longestComment } = connector.capabilities;
    const isLength = Number.isInteger(commentLength) && commentLength > 0 && commentLength <= longestComment;
    expectThat(isLength, `commentLength is not from 1 to ${longestComment}`);
    const passing = ['emr_id', ...(passesThrough ?? [])].toSorted().join(', ');
    expectThat(!(passesThrough && connector.findPatient), 'findPatient exists, although identifiers pass through');
    expectThat(
      !passesThrough || (passesThrough.length > 0 && patientIdentifierTypes.toSorted().join(', ') === passing),
      'patientIdentifierTypes are not emr_id and the types that pass through',
    );
    const { patientSearchBy } = connector.capabilities;
    const isSearch = connector.searchPatients !== undefined && (patientSearchBy?.length ?? 0) > 0;
    expectThat(!patientSearchBy || isSearch, 'patientSearchBy names nothing, or there is no searchPatients');
    expectThat(!transactions || changes.length > 0, 'Transactions are claimed without any change');
    const isSome = transactions && Number(changesPerTransaction) >= 3;
    expectThat(
      changesPerTransaction === undefined || isSome,
      'changesPerTransaction must be three or more, and needs transactions',
    );
  },

  'missing operations are unsupported': claimed([not(has(...operations))], async ({ connector, callGateway }) => {
    const missing = operations.filter((name) => connector[name] === undefined);
    const ask = given(callGateway, 'no gateway is in front of the connector in this run');
    for (const name of missing) await expectUnsupported(ask, name);
  }),

  'rejects changes that are not claimed': claimed(
    [not(changes(...changeKinds)), has('changeAppointments')],
    async (subject) => {
      const { connector } = subject;
      const missing = changeKinds.filter((kind) => !connector.capabilities.changes.includes(kind));
      for (const kind of missing) {
        if (kind === 'create') {
          const slot = await freeSlot(subject);
          const rejected = change(subject, await creation(subject, slot));
          await expectRejection(rejected, 'unsupported', 'A booking, although create is not claimed,');
          expectSame(
            (await appointmentsAt(subject, slot)).length,
            0,
            'Appointments created although create is not claimed',
          );
          continue;
        }
        const what = await example(subject, kind);
        const id = what.kind === 'create' ? '' : what.appointmentId;
        const before = await read(subject, id);
        await expectRejection(change(subject, what), 'unsupported', `${kind}, although it is not claimed,`);
        if (before) expectSame(facts(await mustRead(subject, id)), facts(before), `An appointment after ${kind}`);
      }
    },
  ),

  'rejects a hold if holds are not claimed': claimed([not(holdsTimes), changes('create')], async (subject) => {
    const slot = await freeSlot(subject);
    const holdUntil = new Date(Date.now() + 60 * 60 * 1000);
    const held = change(subject, await creation(subject, slot, { holdUntil }));
    await expectRejection(held, 'unsupported', 'A hold, although holds are not claimed,');
    expectSame((await appointmentsAt(subject, slot)).length, 0, 'Appointments created although holds are not claimed');
  }),

  'rejects more changes per write than claimed and changes nothing': claimed(
    [limitsWrites, changes('create')],
    async (subject) => {
      const { connector } = subject;
      const slot = await freeSlot(subject);
      const taken = await creation(subject, slot);
      const { careUnit } = subject;
      const rejected = operation(
        connector,
        'changeAppointments',
      )({
        operationId: randomUUID(),
        careUnit,
        changes: Array.from({ length: mostChanges(subject) + 1 }, () => taken),
      });
      await expectRejection(
        rejected,
        ['unsupported', 'time_slot_unavailable'],
        'A write with one change more than claimed',
      );
      expectSame(
        (await appointmentsAt(subject, slot)).length,
        0,
        'Appointments created by a write with too many changes',
      );
    },
  ),
});

async function expectUnsupported(ask: NonNullable<Subject['callGateway']>, name: ConnectorOperation): Promise<void> {
  const [outcome] = await Promise.allSettled([ask(name)]);
  if (outcome.status === 'rejected' && outcome.reason instanceof NotChecked) throw outcome.reason;
  const reason = outcome.status === 'rejected' ? (outcome.reason as { reason?: unknown }).reason : 'a result';
  expectSame(reason, 'operation_unsupported', `Problem reason of the gateway for ${name}`);
}
