import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { maySee } from './calendars.ts';
import { addData, type FakeData } from './data.ts';
import { models } from './models.ts';
import { type SearchRead, searchRows, shown } from './search.ts';
import { type Row, Tables } from './tables.ts';
import { Transaction, TrytonException } from './transaction.ts';
import { decodeValue, type Instant } from './values.ts';

export const database = 'health';
export const password = 'a password of the fake server';
/** The user of the gateway, and one of the staff. */
export const users: Readonly<Record<string, number>> = { crossward: 7, desk: 8 };

const mostAttempts = 5;

/** A call that the fake has seen. */
export interface SeenCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly userId: number | undefined;
}

/**
 * - `cut_before`: the connection is cut, and nothing is done
 * - `cut_after`: it is done, and the connection is cut
 * - `late`: the connection is cut, and it is done at `finishLate`, with the time at which it began
 * - a status, or an exception of Tryton: the answer, and nothing is done
 */
export type Fault =
  | 'cut_before'
  | 'cut_after'
  | 'late'
  | { readonly status: number }
  | { readonly exception: TrytonException };

export interface FakeServer {
  readonly url: string;
  readonly tables: Tables;
  readonly seen: SeenCall[];
  /** What goes wrong with a call. */
  misbehave: (call: SeenCall) => Fault | undefined;
  /** What becomes of a row that is returned, such as one that another program has broken. */
  spoil: (model: string, row: Readonly<Record<string, unknown>>) => unknown;
  /** Ends every session, as a restart of the server does. */
  endSessions(): void;
  /** The time of the lock is over. */
  unlock(): void;
  /** Does the calls that were late, in order. */
  finishLate(): void;
  /** Makes a change as somebody else. */
  as<Result>(user: keyof typeof users & string, run: (transaction: Transaction) => Result): Result;
  close(): Promise<void>;
}

class HttpStatus extends Error {
  override readonly name = 'HttpStatus';
  readonly status: number;

  constructor(status: number) {
    super(String(status));
    this.status = status;
  }
}

/** A GNU Health of which the gateway uses the JSON-RPC interface: the protocol and the models of `docs`, in memory. */
export async function startFake(data: FakeData): Promise<FakeServer> {
  const tables = new Tables();
  const sessions = new Map<string, number>();
  const late: (() => void)[] = [];
  let failedLogins = 0;
  let lastInstant: Instant = 0;

  /** No two transactions begin in the same microsecond. */
  function instant(): Instant {
    lastInstant = Math.max(Date.now() * 1000, lastInstant + 1);
    return lastInstant;
  }

  function transacted<Result>(
    userId: number,
    begin: Instant,
    timestamps: object,
    run: (it: Transaction) => Result,
  ): Result {
    const before = tables.copy();
    try {
      return run(new Transaction(tables, userId, begin, { ...timestamps }));
    } catch (error) {
      tables.restore(before);
      throw error;
    }
  }

  const server = createServer(async (request, response) => {
    try {
      await answer(request, response);
    } catch (error) {
      if (!response.headersSent) response.writeHead(error instanceof HttpStatus ? error.status : 500);
      response.end();
    }
  });

  const fake: FakeServer = {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    tables,
    seen: [],
    misbehave: () => undefined,
    spoil: (_, row) => row,
    endSessions: () => sessions.clear(),
    unlock() {
      failedLogins = 0;
    },
    finishLate() {
      for (const run of late.splice(0)) run();
    },
    as: (user, run) => transacted(users[user] ?? 0, instant(), {}, run),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const begin = instant();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.headers['content-length'] === undefined) throw new HttpStatus(411);
    if (request.url !== `/${database}/`) throw new HttpStatus(404);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Readonly<Record<string, unknown>>;
    const { id, method, params } = body as { id: unknown; method: string; params: unknown[] };
    const members = Object.keys(body).sort().join();
    const isLogin = method === 'common.db.login';
    const userId = isLogin ? undefined : sessions.get(sessionOf(request));
    if (!isLogin && userId === undefined) throw new HttpStatus(401);
    const call = { method, params, userId };
    fake.seen.push(call);
    const fault = fake.misbehave(call);
    if (typeof fault === 'object' && 'status' in fault) throw new HttpStatus(fault.status);
    if (fault === 'cut_before') return void request.socket.destroy();
    const run = () => {
      if (typeof fault === 'object') throw fault.exception;
      return isLogin ? logIn(params) : perform(method, params, userId ?? 0, begin);
    };
    if (fault === 'late') {
      late.push(() => quietly(run));
      return void request.socket.destroy();
    }
    const result = outcomeOf(run);
    if (fault === 'cut_after') return void request.socket.destroy();
    const status = 'error' in result && members !== 'id,method,params' ? 400 : 200;
    // The server keeps no connection alive.
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify({ id, ...result }));
  }

  function logIn([user, parameters]: readonly unknown[]): unknown {
    if (failedLogins > mostAttempts) throw new HttpStatus(429);
    const userId = users[String(user)];
    if (userId === undefined || (parameters as { password?: unknown }).password !== password) {
      failedLogins++;
      throw new HttpStatus(401);
    }
    const session = randomBytes(32).toString('hex');
    sessions.set(Buffer.from(`${user}:${userId}:${session}`).toString('base64'), userId);
    return [userId, session];
  }

  function perform(method: string, params: readonly unknown[], userId: number, begin: Instant): unknown {
    const [, model = '', name = ''] = /^model\.(.+)\.([a-z_]+)$/.exec(method) ?? [];
    const args = params.slice(0, -1).map(decodeValue);
    const context = params.at(-1);
    if (typeof context !== 'object' || context === null) throw new TrytonException('Missing context argument', '');
    const { _timestamp = {}, ...rest } = context as { readonly _timestamp?: object };
    if (method === 'model.ir.model.access.get_access') return accessTo(args[0] as string[]);
    if (!models[model]) throw new HttpStatus(403);
    const search = { model, context: rest } as const;
    switch (name) {
      case 'search_read': {
        const [domain, offset, limit, order, fields] = args;
        const query = { ...search, domain, offset, limit, order, fields } as SearchRead;
        const isVisible = (row: Row) => model !== 'calendar.calendar' || maySee(row, userId, tables.calendarAdmins);
        const rows = searchRows(tables, query).filter(isVisible);
        return rows.map((row) => fake.spoil(model, shown(tables, model, row, query.fields, rest)));
      }
      case 'search_count': {
        const query = { ...search, domain: args[0], offset: 0, limit: null, order: null, fields: [] } as SearchRead;
        return searchRows(tables, query).length;
      }
      case 'read':
        return (args[0] as number[]).map((id) => {
          const row = tables.of(model).get(id);
          if (!row) throw new TrytonException('UserError', ["records that don't exist", '', null]);
          return shown(tables, model, row, args[1] as string[], rest);
        });
      case 'create':
        return transacted(userId, begin, _timestamp, (it) => it.create(model, args[0] as Record<string, unknown>[]));
      case 'write':
        transacted(userId, begin, _timestamp, (it) =>
          it.write(model, args[0] as number[], args[1] as Record<string, unknown>),
        );
        return null;
      case 'delete':
        transacted(userId, begin, _timestamp, (it) => it.delete(model, args[0] as number[]));
        return null;
      default:
        throw new HttpStatus(403);
    }
  }

  addData(data, (run) => transacted(1, instant(), {}, run));
  // An idle connection is closed by the caller alone, so that no request meets one that is being closed.
  server.keepAliveTimeout = 0;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return fake;
}

function sessionOf({ headers }: IncomingMessage): string {
  return /^Session (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
}

function outcomeOf(run: () => unknown): { readonly result: unknown } | { readonly error: readonly unknown[] } {
  try {
    return { result: run() };
  } catch (error) {
    if (error instanceof TrytonException) return { error: error.answer };
    throw error;
  }
}

/** Nobody waits for the answer any more. */
function quietly(run: () => unknown): void {
  outcomeOf(run);
}

/** Of a user with the groups Health Front Desk and Health Doctor. */
function accessTo(names: readonly string[]): object {
  const all = { read: 1, write: 1, create: 1, delete: 1 };
  return Object.fromEntries(names.map((name) => [name, all]));
}
