import type { Connector } from '../connector.ts';
import type { DirectChanges } from '../direct-changes.ts';
import { ConnectorError, type ConnectorErrorKind } from '../errors.ts';
import type { Appointment, TimeSlot } from '../records.ts';
import { Failure, NotChecked } from './check.ts';

/** @throws Failure with this message if the condition is false */
export function expectThat(condition: boolean, words: string): asserts condition {
  if (!condition) throw new Failure(words);
}

/** Compares by value, dates by instant. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [seen, wanted] = [show(actual), show(expected)];
  expectThat(seen === wanted, `${what}: expected ${shortened(wanted)}, got ${shortened(seen)}`);
}

/** @throws Failure unless the promise rejects with a ConnectorError of one of these kinds */
export async function expectRejection(
  promise: Promise<unknown>,
  kinds: ConnectorErrorKind | readonly ConnectorErrorKind[],
  what: string,
): Promise<void> {
  const wanted = [kinds].flat();
  const [outcome] = await Promise.allSettled([promise]);
  expectThat(outcome.status === 'rejected', `${what}: expected ${wanted.join(' or ')}, but it succeeded`);
  if (outcome.reason instanceof NotChecked) throw outcome.reason;
  expectThat(
    outcome.reason instanceof ConnectorError && wanted.includes(outcome.reason.kind),
    `${what}: expected ${wanted.join(' or ')}, got ${describe(outcome.reason)}`,
  );
}

/** Returns the operation as a plain function, because the gateway calls it without `this`. */
export function operation<Name extends keyof Connector>(
  connector: Connector,
  name: Name,
): NonNullable<Connector[Name]> {
  const method = connector[name];
  if (method === undefined) throw new NotChecked(`the connector has no ${name}`);
  return method;
}

/** @throws NotChecked with this message if the value is missing */
export function given<Value>(value: Value | undefined | null, words: string): Value {
  if (value === undefined || value === null) throw new NotChecked(words);
  return value;
}

/** @throws NotChecked if the subject cannot make this change in the EHR directly */
export function directChange<Name extends keyof DirectChanges>(
  { directChanges }: { readonly directChanges?: DirectChanges | undefined },
  name: Name,
): NonNullable<DirectChanges[Name]> {
  const change = given(directChanges?.[name], `${name} cannot be done directly in the EHR`);
  return change as NonNullable<DirectChanges[Name]>;
}

/** Describes an error in one line. Unexpected errors include the source position. */
export function describe(error: unknown): string {
  if (error instanceof ConnectorError) {
    const cause = error.cause instanceof Error ? ` (${error.cause.name}: ${error.cause.message})` : '';
    return `ConnectorError ${error.kind}: ${error.message}${cause}`;
  }
  return error instanceof Error ? `${error.name}: ${error.message}${placeOf(error)}` : String(error);
}

/** The first stack frame in a source file, skipping frames of Node.js. */
function placeOf({ stack }: Error): string {
  const place = /^ +(at .+\.[cm]?[jt]s:\d+:\d+\)?)$/m;
  const [, found] = place.exec(stack ?? '') ?? [];
  return found === undefined ? '' : ` (${found})`;
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}

function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

/** The fields of an appointment that do not identify the patient. */
export function facts({ id, state, start, end, comment, resourceId, healthcareServiceId, careUnitId }: Appointment) {
  return { id, state, start, end, comment, resourceId, healthcareServiceId, careUnitId };
}

/** Whether items are sorted by the given keys; strings compare by code unit. */
export function inOrder<Item>(items: readonly Item[], keys: (item: Item) => readonly (string | number)[]): boolean {
  return items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || compare(keys(before), keys(item)) <= 0;
  });
}

function compare(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (const [index, value] of a.entries()) {
    const other = b[index];
    if (other === undefined || value === other) continue;
    return value < other ? -1 : 1;
  }
  return 0;
}

export function slotKeys(slot: TimeSlot): (string | number)[] {
  return [slot.start.getTime(), slot.resourceId, slot.healthcareServiceId];
}

export function appointmentKeys(appointment: Appointment): (string | number)[] {
  return [appointment.start.getTime(), appointment.id];
}
