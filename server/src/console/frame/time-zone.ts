import type { ConfiguredEmr } from '../../config/configuration.ts';
import type { ConsoleSettings } from '../../config/console-settings.ts';

interface Configured {
  readonly settings: Pick<ConsoleSettings, 'time_zone'>;
  readonly emrs: readonly { readonly care_units: readonly Pick<ConfiguredEmr['care_units'][number], 'time_zone'>[] }[];
}

/**
 * The time zone of the console: that of the configuration, otherwise the one that most care units have. The browser's is not
 * known, because the pages have no scripts.
 */
export function timeZoneOf({ settings, emrs }: Configured): string {
  if (settings.time_zone !== undefined) return settings.time_zone;
  const zones = Map.groupBy(
    emrs.flatMap(({ care_units }) => care_units.map(({ time_zone }) => time_zone)),
    (zone) => zone,
  );
  // Sorting is stable, so that the first of the configuration wins.
  const [most = 'UTC'] = [...zones].sort(([, a], [, b]) => b.length - a.length).map(([zone]) => zone);
  return most;
}

/** The city of a time zone, such as `Oslo`. */
export function cityOf(timeZone: string): string {
  return timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone;
}

/** A page with the local time beside each time in UTC, such as `22 Nov 2026 13:07:22 UTC (14:07:22 Oslo)`. */
export function withLocalTimes(page: string, timeZone: string): string {
  if (timeZone === 'UTC') return page;
  const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone });
  return page.replace(/<time datetime="([^"]+)">[^<]*<\/time>/g, (time, text: string) => {
    const instant = new Date(text);
    const day = dayIn(instant, timeZone);
    const otherDay = day === dayIn(instant, 'UTC') ? '' : `${day} `;
    return `${time} <span class="local">(${otherDay}${clock.format(instant)} ${cityOf(timeZone)})</span>`;
  });
}

function dayIn(instant: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone }).format(instant);
}
