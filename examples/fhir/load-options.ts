import { parseArgs } from 'node:util';
import { Temporal } from 'temporal-polyfill';

export const usage = `Usage: npm run fhir:load -- --base-url <url> [options]

Loads the synthetic people, schedules and slots of the example into any FHIR R4 server over REST, writes a configuration
for the server, and prints the commands that check it. The first practitioner also has slots in the nights of the next two
clock changes, for crossward conformance --clock-change. A second run adds what is missing and leaves every Slot as it is,
so that nothing booked becomes free.

Options:
  --base-url <url>           base URL of the server, such as http://127.0.0.1:8080/fhir
  --header <name: value>     header of every request, such as 'Authorization: Bearer …'; can be repeated
  --days <number>            number of days with slots during opening hours, from today on (default: 42)
  --also-on <date>           one more day with slots, such as 2030-03-15; can be repeated
  -h, --help                 display this help
`;

export interface LoadOptions {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly days: number;
  readonly alsoOn: readonly string[];
}

/** An option that is missing or invalid. */
export class OptionError extends Error {}

/**
 * @returns `undefined` for `--help`
 * @throws OptionError
 */
export function readLoadOptions(args: string[]): LoadOptions | undefined {
  const { values } = parsed(args);
  if (values.help) return undefined;
  return {
    baseUrl: baseUrl(values['base-url']),
    headers: Object.fromEntries(values.header.map(nameAndValue)),
    days: numberOfDays(values.days),
    alsoOn: values['also-on'].map(date),
  };
}

function parsed(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        'base-url': { type: 'string' },
        header: { type: 'string', multiple: true, default: [] },
        days: { type: 'string', default: '42' },
        'also-on': { type: 'string', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    // parseArgs says which option is unknown or has no value.
    if (error instanceof TypeError) throw new OptionError(error.message);
    throw error;
  }
}

function baseUrl(text: string | undefined): string {
  if (text === undefined) throw new OptionError('--base-url is missing.');
  const { protocol } = URL.parse(text) ?? {};
  if (protocol === 'http:' || protocol === 'https:') return text;
  throw new OptionError(`--base-url must be an http or https URL: ${text}`);
}

function nameAndValue(header: string): [name: string, value: string] {
  const [, name, value] = /^([^:\s]+):\s*(.+)$/.exec(header) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  // The header may hold a secret.
  throw new OptionError("--header must have the form 'Name: value'.");
}

function numberOfDays(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days > 0) return days;
  throw new OptionError(`--days must be a whole number from 1: ${text}`);
}

function date(text: string): string {
  try {
    return Temporal.PlainDate.from(text).toString();
  } catch {
    throw new OptionError(`--also-on must be a date such as 2030-03-15: ${text}`);
  }
}
