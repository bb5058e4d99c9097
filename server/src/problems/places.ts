import type { Place } from './problem.ts';

export function inBody(name: string): Place {
  return { in: 'body', pointer: `/${name}` };
}

export function inQuery(parameter: string): Place {
  return { in: 'query', parameter };
}

export function inPath(parameter: string): Place {
  return { in: 'path', parameter };
}
