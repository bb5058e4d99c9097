import type { Row, Tables } from './tables.ts';

type Compare = (found: unknown, wanted: unknown) => boolean;

const operators: Readonly<Record<string, Compare>> = {
  '=': (a, b) => (a ?? null) === (b ?? null),
  '!=': (a, b) => (a ?? null) !== (b ?? null),
  '<': (a, b) => isOrdered(a, b) && (a as number) < (b as number),
  '<=': (a, b) => isOrdered(a, b) && (a as number) <= (b as number),
  '>': (a, b) => isOrdered(a, b) && (a as number) > (b as number),
  '>=': (a, b) => isOrdered(a, b) && (a as number) >= (b as number),
  in: (a, b) => (b as unknown[]).includes(a ?? null),
  'not in': (a, b) => !(b as unknown[]).includes(a ?? null),
  like: (a, b) => typeof a === 'string' && likeExpression(String(b)).test(a),
};

/** Whether a row matches a domain: https://docs.tryton.org/projects/server/en/7.0/topics/domain.html */
export function matches(tables: Tables, model: string, row: Row, domain: readonly unknown[]): boolean {
  const [first, ...rest] = domain;
  if (first === 'OR') return rest.some((term) => matchesTerm(tables, model, row, term as unknown[]));
  const terms = first === 'AND' ? rest : domain;
  return terms.every((term) => matchesTerm(tables, model, row, term as unknown[]));
}

function matchesTerm(tables: Tables, model: string, row: Row, term: readonly unknown[]): boolean {
  const [field, operator, wanted] = term;
  if (typeof field !== 'string' || field === 'OR' || field === 'AND') return matches(tables, model, row, term);
  const compare = operators[String(operator)];
  if (!compare) throw new Error(`unknown operator ${operator}`);
  return compare(tables.valueOf(model, row, field), wanted);
}

/** NULL is neither less nor greater. */
function isOrdered(a: unknown, b: unknown): boolean {
  return a !== null && a !== undefined && b !== null && b !== undefined;
}

function likeExpression(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('%', '.*')
    .replaceAll('_', '.');
  return new RegExp(`^${source}$`, 's');
}
