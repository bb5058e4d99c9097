import type { EhrConnection } from '../ehr/connection.ts';

/** The time zone that most care units are in, and of several the one that comes first. UTC without any. */
export function localZone(ehrs: Iterable<Pick<EhrConnection, 'careUnits'>>): string {
  const counts = new Map<string, number>();
  for (const { careUnits } of ehrs) {
    for (const { timeZone } of careUnits.values()) counts.set(timeZone, (counts.get(timeZone) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most?.[0] ?? 'UTC';
}
