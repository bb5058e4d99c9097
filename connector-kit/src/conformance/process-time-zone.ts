import { NotChecked } from './check.ts';
import type { Subject } from './subject.ts';

/** Far to the east and the west of Greenwich, and not by whole hours. The offset is that of January, in minutes. */
const zones = [
  ['UTC', 0],
  ['Pacific/Kiritimati', 14 * 60],
  ['America/St_Johns', -3.5 * 60],
] as const;

interface InZone<Result> {
  readonly zone: string;
  readonly result: Result;
}

/**
 * Runs something once in each of several time zones: with connectors in processes of their own, if the subject can open them, else
 * by changing that of this process. Each call has ended before the next one begins.
 *
 * @param run gets how many calls came before
 * @throws NotChecked if the time zone cannot be set, as in a worker thread
 */
export async function inEveryTimeZone<Result>(
  subject: Subject,
  run: (there: Subject, zone: string, index: number) => Promise<Result>,
): Promise<readonly InZone<Result>[]> {
  const own = process.env.TZ;
  const { inTimeZone } = subject;
  const results: InZone<Result>[] = [];
  try {
    for (const [index, [zone, minutes]] of zones.entries()) {
      if (!inTimeZone) setTimeZone(zone, minutes);
      const there: Subject = inTimeZone
        ? Object.create(subject, { connector: { value: await inTimeZone(zone) } })
        : subject;
      results.push({ zone, result: await run(there, zone, index) });
    }
    return results;
  } finally {
    if (own === undefined) delete process.env.TZ;
    else process.env.TZ = own;
  }
}

/** How many time zones there are. */
export const zoneCount = zones.length;

function setTimeZone(zone: string, minutes: number): void {
  process.env.TZ = zone;
  const offset = -new Date(Date.UTC(2030, 0, 15)).getTimezoneOffset();
  if (offset !== minutes) throw new NotChecked('the time zone of this process cannot be set');
}
