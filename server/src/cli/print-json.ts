import type { Output } from './output.ts';

/** The option of every command that lists, shows or checks something. */
export const jsonOption = ['--json', 'print JSON instead of text'] as const;

export interface JsonOption {
  readonly json?: true;
}

/** Prints JSON on standard output, and nothing else goes there. */
export function printJson(output: Output, value: unknown): void {
  output.out(`${JSON.stringify(value, null, 2)}\n`);
}

/** A copy with the names of the interface: `care_unit_id` for `careUnitId`. Values are left as they are. */
export function snakeCase(record: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name.replace(/[A-Z]/g, (it) => `_${it.toLowerCase()}`), value]),
  );
}
