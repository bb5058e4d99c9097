import type { TObject } from 'typebox';
import { showsNationalNumber } from '../identifiers/index.ts';
import { isUuid } from '../identifiers/uuid.ts';
import { isDayOrTime } from './ranges.ts';
import { argumentInvalid, personalNumberRefused } from './refusal.ts';

/** What an argument must be, in the words of the answer to a wrong one. */
interface Rule {
  readonly expected: string;
  accepts(text: string): boolean;
}

// `.` and `..` would name another path.
const isId = (text: string) => /^[^\p{Cc}]{1,200}$/u.test(text) && !/^\.{1,2}$/.test(text);
const id: Rule = { expected: 'an id of an earlier result, unchanged', accepts: isId };
const moment: Rule = {
  expected: 'a day of the calendar (2030-03-15) or a time of it (2030-03-15T09:00)',
  accepts: isDayOrTime,
};
/** Each reference is checked when it is opened. */
const reference: Rule = { expected: 'a reference of an earlier result, unchanged', accepts: () => true };

const rules: Readonly<Record<string, Rule>> = {
  appointment_id: id,
  service_id: id,
  // Other notations would be another way to name a person.
  resource_id: { ...id, accepts: (text) => text.startsWith('emr_id:') && isId(text.slice('emr_id:'.length)) },
  from: moment,
  until: moment,
  time_ref: reference,
  plan_ref: reference,
};

/**
 * The arguments of a call, checked here and not by the published schema: hosts refuse a whole list of tools because of one
 * pattern in it. An argument that may be left out may be empty or null, because some hosts make the model give every one.
 *
 * @throws Refusal
 */
export function checkArguments(schema: TObject, given: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries((given ?? {}) as Readonly<Record<string, unknown>>);
  const required: readonly string[] = schema.required ?? [];
  const args: Record<string, string> = {};
  for (const [name, value] of entries) {
    const isLeftOut = (value === null || value === '') && !required.includes(name);
    const text = checked(schema, name, isLeftOut ? undefined : value);
    if (text !== undefined) args[name] = text;
  }
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) throw argumentInvalid(`\`${missing}\` is missing`);
  return args;
}

function checked(schema: TObject, name: string, value: unknown): string | undefined {
  const rule = Object.hasOwn(schema.properties, name) ? rules[name] : undefined;
  if (!rule) throw argumentInvalid('the tool takes only the arguments that its schema has');
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw argumentInvalid(`\`${name}\` must be ${rule.expected}`);
  if (rule === id || name === 'resource_id') refuseNationalNumber(value);
  if (!rule.accepts(value)) throw argumentInvalid(`\`${name}\` must be ${rule.expected}`);
  return value;
}

/** @throws Refusal if an id looks like a national number. A UUID can by chance */
function refuseNationalNumber(value: string): void {
  if (!isUuid(value.replace(/^cw-/, '')) && showsNationalNumber(value)) throw personalNumberRefused;
}
