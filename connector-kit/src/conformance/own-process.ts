import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Connector, ConnectorOperation } from '../connector.ts';
import { ConnectorError } from '../errors.ts';
import { operations } from '../operations.ts';

/** A connector in a process of its own. */
export interface ConnectorInProcess extends Connector {
  /** The same connector in another process, whose time zone is this one. It ends with this one. */
  inTimeZone(timeZone: string): Promise<Connector>;
  close(): Promise<void>;
}

/** What the process says. */
export type FromProcess =
  | { readonly kind: 'opened'; readonly capabilities: Connector['capabilities']; readonly names: readonly string[] }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: PlainError };

/** What the process is told. */
export type ToProcess =
  | { readonly kind: 'open'; readonly module: string; readonly input: unknown }
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly input: readonly unknown[] };

/** An error as it goes from one process to another. */
export interface PlainError {
  readonly message: string;
  /** Of a `ConnectorError`. */
  readonly of?: Pick<ConnectorError, 'kind' | 'nothingChanged'> & { readonly retryAfterSeconds?: number };
}

/** Contents of documents are functions and streams, which do not leave a process. */
const needStreams: readonly ConnectorOperation[] = ['createDocument', 'readDocument'];

/**
 * Opens a connector in a process of its own, as a second gateway would. Give it to the kit as `second`: a lock in a variable of the
 * connector then hides nothing.
 *
 * @param module a module whose default export opens the connector: `export default (input) => connector.open({ … })`
 * @param input what that function gets, such as the URL of the fake EHR: data that can be cloned
 */
export async function connectorInProcess(module: URL, input?: unknown): Promise<ConnectorInProcess> {
  const own = await openInProcess(module, input);
  const zones = new Map<string, Promise<OpenedInProcess>>();
  return {
    ...own,
    inTimeZone(timeZone) {
      const there = zones.get(timeZone) ?? openInProcess(module, input, timeZone);
      zones.set(timeZone, there);
      return there;
    },
    async close() {
      const others = await Promise.allSettled(zones.values());
      await Promise.all(
        [own, ...others.flatMap((it) => (it.status === 'fulfilled' ? it.value : []))].map((it) => it.close()),
      );
    },
  };
}

type OpenedInProcess = Omit<ConnectorInProcess, 'inTimeZone'>;

async function openInProcess(module: URL, input: unknown, timeZone?: string): Promise<OpenedInProcess> {
  const { pathname } = new URL(import.meta.url);
  const entry = new URL(`./process-entry${pathname.slice(pathname.lastIndexOf('.'))}`, import.meta.url);
  // Not the options of the test runner.
  const child = fork(fileURLToPath(entry), [], {
    serialization: 'advanced',
    execArgv: [],
    env: { ...process.env, ...(timeZone === undefined ? {} : { TZ: timeZone }) },
  });
  const calls = new Map<number, PromiseWithResolvers<unknown>>();
  const opened = Promise.withResolvers<Extract<FromProcess, { kind: 'opened' }>>();
  const fail = (error: Error) => {
    opened.reject(error);
    for (const { reject } of calls.values()) reject(error);
    calls.clear();
  };
  const send = (message: ToProcess) => void child.send(message, (error) => error && fail(error));
  child.on('error', fail);
  child.on('exit', () => fail(new Error('The process of the second connector has ended')));
  child.on('message', (message: FromProcess) => {
    if (message.kind === 'opened') return opened.resolve(message);
    const call = calls.get(message.id);
    calls.delete(message.id);
    if (message.kind === 'result') return call?.resolve(message.result);
    const error = errorOf(message.error);
    if (message.id < 0) fail(error);
    else call?.reject(error);
  });
  send({ kind: 'open', module: module.href, input });
  const { capabilities, names } = await opened.promise;
  // It ends with this process.
  child.unref();
  child.channel?.unref();

  let next = 0;
  const calling =
    (name: string) =>
    (...all: unknown[]): Promise<unknown> => {
      const call = Promise.withResolvers<unknown>();
      calls.set(next, call);
      send({ kind: 'call', id: next++, name, input: all });
      return call.promise;
    };
  const known = operations.filter((name) => names.includes(name) && !needStreams.includes(name));
  return {
    capabilities,
    ...Object.fromEntries(known.map((name) => [name, calling(name)])),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function errorOf({ message, of }: PlainError): Error {
  return of ? new ConnectorError(of.kind, message, of) : new Error(message);
}
