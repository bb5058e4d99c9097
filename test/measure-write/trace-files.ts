import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, Server, type ServerResponse } from 'node:http';
import { registerHooks } from 'node:module';
import { parseSync, Visitor } from 'oxc-parser';

/*
 * A preload (`node --import …/trace-files.ts server/src/main.ts`) that lists, in the response header `x-files`, the calls of a
 * request from one file of `server/src` into another, in order, as `from>to`. Requests ask for it with the header `x-trace`.
 */

interface Frame {
  readonly file: string;
  /** All calls of the request. */
  readonly calls: string[];
}

const frames = new AsyncLocalStorage<Frame>();
Object.assign(globalThis, {
  enterFile(file: string, body: () => unknown) {
    const caller = frames.getStore();
    if (!caller) return body();
    const { calls } = caller;
    if (caller.file !== file) calls.push(`${caller.file}>${file}`);
    return frames.run({ file, calls }, body);
  },
});

interface FunctionNode {
  readonly async: boolean;
  readonly generator?: boolean;
  readonly body?: { readonly type: string; readonly start: number; readonly end: number } | null;
}

/** Notes each call of a function with a body of statements. */
function instrument(file: string, source: string): string {
  const inserts: [number, string][] = [];
  const add = ({ body, async, generator }: FunctionNode) => {
    if (generator || (body?.type !== 'BlockStatement' && body?.type !== 'FunctionBody')) return;
    inserts.push([body.start + 1, ` return enterFile(${JSON.stringify(file)}, ${async ? 'async ' : ''}() => {`]);
    inserts.push([body.end - 1, '}); ']);
  };
  new Visitor({ FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add }).visit(
    parseSync(file, source).program,
  );
  return inserts
    .toSorted(([a], [b]) => b - a)
    .reduce((text, [at, insert]) => text.slice(0, at) + insert + text.slice(at), source);
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
Server.prototype.emit = function (this: Server, name: string, ...rest: unknown[]): boolean {
  const [request, response] = rest as [IncomingMessage, ServerResponse];
  if (name !== 'request' || request.headers['x-trace'] === undefined) return Reflect.apply(emit, this, [name, ...rest]);
  const first: Frame = { file: '', calls: [] };
  const { emit: emitOfRequest } = request;
  // Body events run outside the async context of the request.
  request.emit = (...event: unknown[]) => frames.run(first, () => Reflect.apply(emitOfRequest, request, event));
  const { writeHead } = response;
  response.writeHead = (...head: unknown[]) => {
    response.setHeader('x-files', first.calls.join(' '));
    return Reflect.apply(writeHead, response, head);
  };
  return frames.run(first, () => Reflect.apply(emit, this, [name, ...rest]));
} as typeof emit;
