import type { Connector, ConnectorOperation } from '@crossward/connector-kit';
import { createConnection } from '../ehr/connection.ts';
import type { Guard } from '../ehr/guard/guard.ts';

/** A guard without limits. */
const unguarded: Guard = {
  run: (_, call) => call(),
  stream: (_, call) => call(),
  health: () => ({ breaker: 'closed', lastSuccessAt: null, answeredFromMemoryAt: undefined, pause: undefined }),
  paused: () => undefined,
};

/** Calls a connector the way the gateway does, with the same errors. */
export function gatewayBefore(connector: () => Connector): (operation: ConnectorOperation) => Promise<unknown> {
  return (operation) => {
    const close = () => Promise.resolve();
    const times = { callSeconds: 1, settlingSeconds: 1, giveUpSeconds: 1 };
    const patientTokens = { seal: (id: string) => id, sealShort: () => undefined, open: (token: string) => token };
    const settings = {
      syntheticIdentifiers: false,
      patientTokens,
      times,
      changesSeconds: 0,
      unreadableRecords: () => [],
      requestFailed: () => undefined,
    };
    const facts = { id: 'emr', name: 'EHR', connector: 'checked', careUnits: new Map(), ...settings, close };
    const opening = { current: connector, retryAfterSeconds: () => 1, detail: () => undefined, stop: () => undefined };
    const ask = createConnection(facts, opening, unguarded).call as (name: ConnectorOperation) => Promise<unknown>;
    return ask(operation);
  };
}
