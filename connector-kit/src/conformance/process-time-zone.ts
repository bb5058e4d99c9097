import { NotChecked } from './check.ts';

/** Far to the east and the west of Greenwich, and not by whole hours. The offset is that of January, in minutes. */
const zones = [
  ['UTC', 0],
  ['Pacific/Kiritimati', 14 * 60],
  ['America/St_Johns', -3.5 * 60],
] as const;

/**
 * Runs something once in each of several time zones of this process. Each call has ended before the next one begins.
 *
 * @throws NotChecked if the time zone cannot be set, as in a worker thread
 */
export async function inEveryTimeZone<Result>(
  run: (zone: string) => Promise<Result>,
): Promise<readonly { readonly zone: string; readonly result: Result }[]> {
  const own = process.env.TZ;
  const results: { zone: string; result: Result }[] = [];
  try {
    for (const [zone, minutes] of zones) {
      process.env.TZ = zone;
      const offset = -new Date(Date.UTC(2030, 0, 15)).getTimezoneOffset();
      if (offset !== minutes) throw new NotChecked('the time zone of this process cannot be set');
      results.push({ zone, result: await run(zone) });
    }
    return results;
  } finally {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  }
}
