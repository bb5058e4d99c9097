import { randomUUID } from 'node:crypto';
import {
  type Appointment,
  type AppointmentChange,
  type AppointmentWrite,
  assertComplete,
  type Connector,
  ConnectorError,
} from '@crossward/connector-kit';

/** Calls `check` before each write, to detect writes that the EHR does not support. */
export function checking(connector: Connector, check: (write: AppointmentWrite) => void): Connector {
  const { changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR supports no changes');
  return {
    ...connector,
    async changeAppointments(write) {
      check(write);
      return changeAppointments(write);
    },
  };
}

/** Supports `create`, `update` and `cancel`, but no holds. */
export function withoutHolds(connector: Connector): Connector {
  const changes = ['create', 'update', 'cancel'] as const;
  return checking({ ...connector, capabilities: { ...connector.capabilities, changes } }, (write) => {
    for (const change of write.changes) {
      const holds = change.kind === 'create' && change.holdUntil !== null;
      if (holds || !changes.some((kind) => kind === change.kind)) {
        throw new ConnectorError('unsupported', 'This EHR cannot hold a time');
      }
    }
  });
}

/** Supports one change per write. */
export function withoutTransactions(connector: Connector): Connector {
  return checking({ ...connector, capabilities: { ...connector.capabilities, transactions: false } }, (write) => {
    if (write.changes.length !== 1) throw new Error('This EHR supports one change per write');
  });
}

/** Cannot move an appointment, only change its comment. */
export function rebooking(connector: Connector): Connector {
  return checking({ ...connector, capabilities: { ...connector.capabilities, rebooks: true } }, ({ changes }) => {
    const moves = changes.some((it) => it.kind === 'update' && (it.time !== undefined || it.resourceId !== undefined));
    if (moves) throw new ConnectorError('unsupported', 'This EHR cannot move an appointment');
  });
}

/** Does not keep operation ids: a repeated write is done again, and cannot be looked up. */
export function withoutOperationIds({ findOperation: _, ...connector }: Connector): Connector {
  const { changeAppointments } = connector;
  if (!changeAppointments) throw new Error('The EHR supports no changes');
  return { ...connector, changeAppointments: (write) => changeAppointments({ ...write, operationId: randomUUID() }) };
}

/** Moves an appointment in one step, and gives it a new id. */
export function movingToNewId(connector: Connector): Connector {
  const { changeAppointments, findAppointments, findOperation } = connector;
  if (!changeAppointments || !findAppointments) throw new Error('The EHR supports no changes');
  const isMove = (it: AppointmentChange) => it.kind === 'update' && (it.time ?? it.resourceId) !== undefined;
  /** The new appointments of moves, without the former ones. */
  const shown = (changes: readonly AppointmentChange[], found: readonly Appointment[]) => {
    let index = -1;
    return changes.flatMap((it) => {
      index += isMove(it) ? 2 : 1;
      return found[index] ?? [];
    });
  };
  async function asSteps(careUnit: AppointmentWrite['careUnit'], change: AppointmentChange) {
    if (change.kind !== 'update' || !isMove(change)) return [change];
    const { appointmentId, time, resourceId, comment } = change;
    const [former] = await (findAppointments as NonNullable<typeof findAppointments>)(careUnit, [appointmentId]);
    if (!former) throw new ConnectorError('appointment_not_found', 'Not found');
    if (former.state === 'cancelled') throw new ConnectorError('appointment_cancelled', 'Cancelled');
    const { id: _, ...facts } = assertComplete(former);
    const next = { ...facts, ...time, resourceId: resourceId ?? facts.resourceId };
    const creation = { ...next, comment: comment === undefined ? facts.comment : comment, holdUntil: null };
    return [{ kind: 'cancel', appointmentId } as const, { kind: 'create', ...creation } as const];
  }
  /** One write after the other. */
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...connector,
    capabilities: { ...connector.capabilities, movesToNewId: true },
    changeAppointments(write) {
      const turn = last.then(async () => {
        const { careUnit, changes, operationId, isFirst } = write;
        const earlier = isFirst ? null : await findOperation?.(careUnit, operationId, changes);
        if (earlier) return shown(changes, earlier);
        const steps = (await Promise.all(changes.map((it) => asSteps(careUnit, it)))).flat();
        return shown(changes, await changeAppointments({ ...write, changes: steps }));
      });
      last = turn.catch(() => undefined);
      return turn;
    },
    ...(findOperation && {
      async findOperation(careUnit, operationId, changes = []) {
        const found = await findOperation(careUnit, operationId, changes);
        if (!found) return null;
        // A single move, if the caller names no changes.
        return changes.length > 0 ? shown(changes, found) : found.slice(-1);
      },
    }),
  };
}
