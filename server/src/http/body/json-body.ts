import type { FastifyInstance } from 'fastify';
import { visit } from 'jsonc-parser';
import { bodyLimits } from '../../api/body-limits.ts';
import { escapedToken, isEchoable } from '../../api/json-pointer.ts';
import type { Problem } from '../../problems/problem.ts';
import { bodyUnreadable } from '../protocol/error-handler.ts';

/** Accepts only JSON in UTF-8 (RFC 8259 section 8.1) in which no object repeats a name. */
export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as Buffer));
    } catch (error) {
      done(error as Problem);
    }
  });
}

/** @throws Problem `request_invalid` */
export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) throw bodyUnreadable('The body is empty.');
  const text = decoded(bytes);
  const fault = faultInJson(text, bodyLimits);
  if (fault) throw rejection(fault);
  return JSON.parse(text);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bodyUnreadable('The body is not valid UTF-8.');
  }
}

function rejection(fault: JsonFault): Problem {
  switch (fault.kind) {
    case 'syntax':
      return bodyUnreadable(`The body is not valid JSON: see line ${fault.line}, column ${fault.column}.`);
    case 'too deep':
      return bodyUnreadable(`The body is nested more than ${bodyLimits.depth} levels deep.`);
    case 'too many values':
      return bodyUnreadable(`The body contains more than ${bodyLimits.values} values.`);
    case 'repeated name': {
      const { pointer } = fault;
      if (fault.isWhole) return bodyUnreadable(`${pointer} is sent more than once.`, pointer);
      const place = pointer === '' ? 'The body' : pointer;
      return bodyUnreadable(`${place} contains the same field more than once.`, pointer);
    }
  }
}

export interface JsonLimits {
  /** Maximum nesting of objects and arrays. */
  readonly depth: number;
  /** Maximum number of values; objects and arrays count too. */
  readonly values: number;
}

export type JsonFault =
  | { readonly kind: 'too deep' | 'too many values' }
  /** The text stops being JSON here: line and column, both from 1. */
  | { readonly kind: 'syntax'; readonly line: number; readonly column: number }
  /**
   * A name occurs twice in one object. `pointer` refers to it, or to the last ancestor that may be echoed (then
   * `isWhole` is false).
   */
  | { readonly kind: 'repeated name'; readonly pointer: string; readonly isWhole: boolean };

/** Ends the visit: jsonc-parser recovers from errors and offers no other way to stop. */
class Found extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super();
    this.fault = fault;
  }
}

/**
 * The first place in a text that is not JSON (RFC 8259), exceeds a limit, or repeats a name in an object.
 *
 * @internal for the test
 */
export function faultInJson(text: string, limits: JsonLimits): JsonFault | undefined {
  /** Of each open object its names, of each open array `undefined`. */
  const open: (Set<string> | undefined)[] = [];
  let values = 0;
  const stop = (fault: JsonFault): never => {
    throw new Found(fault);
  };
  const count = () => {
    values += 1;
    if (values > limits.values) stop({ kind: 'too many values' });
  };
  const begin = (names: Set<string> | undefined) => {
    if (open.length === limits.depth) stop({ kind: 'too deep' });
    open.push(names);
    count();
  };
  const end = () => void open.pop();
  try {
    visit(
      text,
      {
        onObjectBegin: () => begin(new Set()),
        onObjectProperty(name, _offset, _length, _line, _column, path) {
          const names = open.at(-1);
          if (names?.has(name)) stop({ kind: 'repeated name', ...pointerTo([...path(), name]) });
          names?.add(name);
        },
        onObjectEnd: end,
        onArrayBegin: () => begin(undefined),
        onArrayEnd: end,
        onLiteralValue: count,
        onError: (_code, _offset, _length, line, column) =>
          stop({ kind: 'syntax', line: line + 1, column: column + 1 }),
      },
      { disallowComments: true },
    );
  } catch (error) {
    if (error instanceof Found) return error.fault;
    throw error;
  }
  return undefined;
}

function pointerTo(path: readonly (string | number)[]): { readonly pointer: string; readonly isWhole: boolean } {
  const hidden = path.findIndex((part) => typeof part === 'string' && !isEchoable(part));
  const shown = hidden === -1 ? path : path.slice(0, hidden);
  return { pointer: shown.map((part) => `/${escapedToken(String(part))}`).join(''), isWhole: hidden === -1 };
}
