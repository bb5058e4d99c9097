import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import pg from 'pg';

/*
 * A preload that kills the gateway at the point that a request names in
 * `x-kill-at`:
 *
 * - `before 3`, `after 3`: before or after the third statement of the request
 * - `response`: after the last statement, before the response
 * - `count`: never; the response lists the statements in `x-statements`
 *
 * `KILL_DELIVERY` names a statement in the same way for the first message that the process delivers.
 */

interface Steps {
  readonly killAt: string;
  readonly statements: string[];
}

const steps = new AsyncLocalStorage<Steps>();
// Statements that requests share run in the context of none. Here they count for the request that sends them.
AsyncLocalStorage.snapshot =
  () =>
  (work, ...input) =>
    work(...input);
const deliveryKillAt = process.env.KILL_DELIVERY ?? '';
const deliveryStatements: string[] = [];
/** Sets up a new connection, or takes a share of the client's limit: the time decides which request sends it. */
const belongsToNoRequest = /^\s*(SET TIME ZONE|INSERT INTO client_requests)/;
const ofDelivery =
  /^\s*(WITH due AS MATERIALIZED \(\s*SELECT id FROM messages|insert into "demo_mailbox"|update "messages" set "state" = \$)/;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const { emit } = Server.prototype;
Server.prototype.emit = function (this: Server, name: string, ...rest: unknown[]): boolean {
  const [request, response] = rest as [IncomingMessage, ServerResponse];
  const killAt = name === 'request' && request.headers['x-kill-at'];
  if (typeof killAt !== 'string') return Reflect.apply(emit, this, [name, ...rest]);
  const own: Steps = { killAt, statements: [] };
  const { emit: emitOfRequest } = request;
  // Body events run outside the async context of the request.
  request.emit = (...event: unknown[]) => steps.run(own, () => Reflect.apply(emitOfRequest, request, event));
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]) => {
    if (killAt === 'response') die();
    response.setHeader('x-statements', encodeURIComponent(JSON.stringify(own.statements)));
    return Reflect.apply(writeHead, response, head);
  };
  return steps.run(own, () => Reflect.apply(emit, this, [name, ...rest]));
} as typeof emit;

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...input: unknown[]): unknown {
  const [first] = input;
  const text = typeof first === 'string' ? first : ((first as { text?: string }).text ?? '');
  const run = () => Reflect.apply(query, this, input);
  if (belongsToNoRequest.test(text)) return run();
  const own = steps.getStore();
  if (own) return step(own.statements, own.killAt, text, run);
  return deliveryKillAt && ofDelivery.test(text) ? step(deliveryStatements, deliveryKillAt, text, run) : run();
} as typeof query;

function step(statements: string[], killAt: string, text: string, run: () => unknown): unknown {
  statements.push(text.replaceAll(/\s+/g, ' ').trim().slice(0, 40));
  if (killAt === `before ${statements.length}`) die();
  const result = run();
  if (killAt === `after ${statements.length}`) (result as Promise<unknown>).then(die, die);
  return result;
}

// After the changes above: the modules that it loads keep what they find.
await import('./rebooking-sandbox.ts');
