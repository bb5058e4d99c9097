import { isMapping } from '../../../config/mistakes/mistake.ts';

/** Time zone and language of a country whose numbers an EHR has. */
const countries = [
  ['no_personal_number', 'Europe/Oslo', 'nb'],
  ['se_personal_number', 'Europe/Stockholm', 'sv'],
  ['nhs_number', 'Europe/London', 'en'],
  ['dk_cpr', 'Europe/Copenhagen', 'en'],
  ['fi_hetu', 'Europe/Helsinki', 'en'],
  ['nl_bsn', 'Europe/Amsterdam', 'en'],
  ['de_kvnr', 'Europe/Berlin', 'en'],
  ['fr_ins', 'Europe/Paris', 'en'],
  ['it_cf', 'Europe/Rome', 'en'],
] as const;

/** Guesses time zone and language of a new care unit: those of the others, otherwise of the country of the EHR's numbers. */
export function guessedUnit(definition: unknown): Readonly<Record<string, unknown>> {
  const { care_units: units, settings } = isMapping(definition) ? definition : {};
  const last: unknown = Array.isArray(units) ? units.at(-1) : undefined;
  if (isMapping(last)) return { time_zone: last.time_zone, language: last.language };
  const text = JSON.stringify(settings ?? {});
  const [, zone, language] = countries.find(([type]) => text.includes(`"${type}"`)) ?? [];
  const own: unknown = isMapping(settings) ? settings.local_time_zone : undefined;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return {
    // Many machines have UTC, and no clinic has.
    time_zone: own ?? zone ?? (timeZone === 'UTC' ? undefined : timeZone),
    language: language ?? 'en',
  };
}
