import nodeModule from 'node:module';
import type { Connector } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { describe } from './expect.ts';
import type { FromProcess, PlainError, ToProcess } from './own-process.ts';
import { withKnownWrites } from './watched-calls.ts';

// The process of a connector: `connectorInProcess` starts it, and it ends with the process that has started it.

// A third of a start compiles the connector's modules. Node.js before 22.8 keeps nothing of that.
nodeModule.enableCompileCache?.();

let connector: Connector | undefined;

function tell(message: FromProcess): void {
  process.send?.(message);
}

function plain(error: unknown): PlainError {
  if (!(error instanceof ConnectorError)) return { message: describe(error) };
  const { kind, message, nothingChanged, retryAfterSeconds } = error;
  return {
    message,
    of: { kind, nothingChanged, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
  };
}

async function open({ module, input }: Extract<ToProcess, { kind: 'open' }>): Promise<void> {
  const { default: openConnector } = (await import(module)) as { default: (input: unknown) => Promise<Connector> };
  // The requests of a call are known here only.
  connector = withKnownWrites(await openConnector(input));
  const { capabilities, ...methods } = connector;
  tell({ kind: 'opened', capabilities, names: Object.keys(methods) });
}

async function call({ id, name, input }: Extract<ToProcess, { kind: 'call' }>): Promise<void> {
  const method = connector?.[name as keyof Connector] as ((...all: unknown[]) => Promise<unknown>) | undefined;
  try {
    tell({ kind: 'result', id, result: await method?.(...input) });
  } catch (error) {
    tell({ kind: 'error', id, error: plain(error) });
  }
}

process.on('disconnect', () => process.exit());
// It can have ended while these modules were loaded.
if (!process.connected) process.exit();
process.on('message', (message: ToProcess) => {
  if (message.kind === 'call') return void call(message);
  open(message).catch((error: unknown) => tell({ kind: 'error', id: -1, error: plain(error) }));
});
