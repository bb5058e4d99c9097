import type { Connector, ConnectorOperation } from '@crossward/connector-kit';
import { createCalls } from './connection.ts';
import type { Guard } from './guard/guard.ts';

/** A guard without limits. */
const unguarded: Guard = {
  run: (_, call) => call(),
  stream: (_, call) => call(),
  health: () => ({ breaker: 'closed', lastSuccessAt: null, answeredFromMemoryAt: undefined, pause: undefined }),
  paused: () => undefined,
  isIdle: () => true,
};

/** Calls a connector the way the gateway does, with the same errors. */
export function gatewayBefore(connector: () => Connector): (operation: ConnectorOperation) => Promise<unknown> {
  return (operation) => {
    const opening = { retryAfterSeconds: () => 1, detail: () => undefined, stop: () => undefined };
    const ask = createCalls({ ...opening, connector: connector() }, unguarded).call as (
      name: ConnectorOperation,
    ) => Promise<unknown>;
    return ask(operation);
  };
}
