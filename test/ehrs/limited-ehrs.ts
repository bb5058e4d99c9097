import { randomUUID } from 'node:crypto';
import { type AppointmentWrite, type Connector, ConnectorError } from '@crossward/connector-kit';

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
