import type { Operation } from './operation.ts';

/** Where the process is killed, and how many statements it has executed by then. */
export interface Point {
  readonly killAt: string;
  readonly executed: number;
}

export function pointsOf({ length }: readonly string[]): Point[] {
  const steps = Array.from({ length }, (_, index) => index + 1);
  return [
    ...steps.flatMap((step) => [
      { killAt: `before ${step}`, executed: step - 1 },
      { killAt: `after ${step}`, executed: step },
    ]),
    { killAt: 'response', executed: length },
  ];
}

/** One crash point for each distinct database state. Uncommitted transactions do not change the state. */
export function statesOf(statements: readonly string[]): Point[] {
  let isInTransaction = false;
  const points = statements.flatMap((text, index): Point[] => {
    const step = index + 1;
    if (text === 'begin') isInTransaction = true;
    if (text === 'commit') {
      isInTransaction = false;
      return [
        { killAt: `before ${step}`, executed: index },
        { killAt: `after ${step}`, executed: step },
      ];
    }
    return isInTransaction || /^select (?!sandbox\.(?:write|book)_)/i.test(text)
      ? []
      : [{ killAt: `after ${step}`, executed: step }];
  });
  return [
    { killAt: 'before 1', executed: 0 },
    ...points.slice(0, -1),
    { killAt: 'response', executed: statements.length },
  ];
}

/** Every n-th item, or the last if there are fewer. */
export function someOf<T>(items: readonly T[], every: number): readonly T[] {
  const some = items.filter((_, index) => index % every === every - 1);
  return some.length > 0 ? some : items.slice(-1);
}

/** The number of statements after which the operation completes without a client retry. */
export function doneAfter(statements: readonly string[], from: Operation['completesAfter']): number {
  if (from === 'end') return statements.lastIndexOf('commit') + 1;
  const intent = statements.findIndex((text) => /^(WITH planned AS|update "operations" set "kind")/.test(text));
  if (intent === -1) throw new Error(`None of these statements stores a plan: ${statements.join('; ')}`);
  const isInTransaction = statements.lastIndexOf('begin', intent) > statements.lastIndexOf('commit', intent);
  return (isInTransaction ? statements.indexOf('commit', intent) : intent) + 1;
}
