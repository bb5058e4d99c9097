import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { registerHooks } from 'node:module';
import { parseSync, Visitor } from 'oxc-parser';

/*
 * A preload (`node --import …/trace-files.ts server/src/main.ts`) that notes the calls from one file of `server/src` into
 * another, in order, as `from>to`: those of each request with the header `x-trace`, under its value, and those of each round of
 * webhook deliveries, under `round-<number>`. `GET /traces` returns them all.
 */

interface Frame {
  readonly file: string;
  /** All calls of the trace. */
  readonly calls: string[];
}

/** Nobody calls it: it runs in the background. */
const background = 'webhooks/dispatcher.ts';
const frames = new AsyncLocalStorage<Frame>();
const traces = new Map<string, string[]>();

function begin(name: string): Frame {
  const calls: string[] = [];
  traces.set(name, calls);
  return { file: '', calls };
}

Object.assign(globalThis, {
  enterFile(file: string, body: () => unknown) {
    const caller = frames.getStore() ?? (file === background ? begin(`round-${traces.size}`) : undefined);
    if (!caller) return body();
    const { calls } = caller;
    if (caller.file !== file) calls.push(`${caller.file}>${file}`);
    return frames.run({ file, calls }, body);
  },
});

interface FunctionNode {
  readonly async: boolean;
  readonly generator?: boolean;
  readonly expression?: boolean;
  readonly body?: { readonly type: string; readonly start: number; readonly end: number } | null;
}

/** Notes each call of a function. Those of generators are left out: their bodies run later. */
function instrument(file: string, source: string): string {
  const inserts: [number, string][] = [];
  const add = ({ body, async, generator, expression }: FunctionNode) => {
    if (generator || !body) return;
    const call = `enterFile(${JSON.stringify(file)}, ${async ? 'async ' : ''}() => `;
    if (expression) inserts.push([body.start, `${call}(`], [body.end, '))']);
    else inserts.push([body.start + 1, ` return ${call}{`], [body.end - 1, '}); ']);
  };
  new Visitor({ FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add }).visit(
    parseSync(file, source).program,
  );
  return inserts
    .map((insert, order) => ({ insert, order }))
    .toSorted((a, b) => b.insert[0] - a.insert[0] || b.order - a.order)
    .reduce((text, { insert: [at, words] }) => text.slice(0, at) + words + text.slice(at), source);
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const [, file] = /\/server\/src\/(.*\.ts)$/.exec(url) ?? [];
    if (file === undefined) return loaded;
    // Node.js removes the types afterwards.
    return { ...loaded, source: instrument(file, String(loaded.source)) };
  },
});

const { emit } = Server.prototype;
Server.prototype.emit = function (this: Server, event: string, ...rest: unknown[]): boolean {
  const [request, response] = rest as [IncomingMessage, ServerResponse];
  const pass = () => Reflect.apply(emit, this, [event, ...rest]);
  if (event !== 'request') return pass();
  if (request.url === '/traces') {
    response.end(JSON.stringify(Object.fromEntries(traces)));
    return true;
  }
  const name = request.headers['x-trace'];
  if (typeof name !== 'string') return pass();
  const first = begin(name);
  const { emit: emitOfRequest } = request;
  // Body events run outside the async context of the request.
  request.emit = (...words: unknown[]) => frames.run(first, () => Reflect.apply(emitOfRequest, request, words));
  return frames.run(first, pass);
} as typeof emit;
