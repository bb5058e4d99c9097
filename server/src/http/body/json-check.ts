import { visit } from 'jsonc-parser';
import { escapedToken, isEchoable } from '../../api/json-pointer.ts';

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

/** The first place in a text that is not JSON (RFC 8259), exceeds a limit, or repeats a name in an object. */
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
